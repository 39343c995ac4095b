"""Events in the everyday apps while time passes: group messages, requests, news of trips.

Groups and clubs here have names that no task uses, so that these events cannot be confused with
what a task is about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from phonesim.languages.language import Language


class Chatter(NamedTuple):
    """A message in a group."""

    group: str
    sender: str
    text: str


class Asker(NamedTuple):
    """A club that requests money, and what for."""

    name: str
    note: str


CHATTER = (
    Chatter("Stairwell news", "Mirka", "Has anybody seen a grey cat with one white paw?"),
    Chatter("Stairwell news", "Tobin", "The lift works again"),
    Chatter("Evening runners", "Selma", "Tonight at seven, by the fountain"),
    Chatter("Evening runners", "Ivo", "I am bringing the headlamps"),
    Chatter("Street market", "Petra", "Fresh plums until noon"),
    Chatter("Allotment club", "Joris", "Who closed the water tap? Thank you!"),
    Chatter("Allotment club", "Linde", "There are far too many courgettes. Please take some"),
    Chatter("Quiz table", "Nadja", "We came second, again"),
)
ASKERS = (
    Asker("Stairwell fund", "New light bulbs"),
    Asker("Evening runners", "Race numbers"),
    Asker("Allotment club", "Seeds and soil"),
    Asker("Quiz table", "Last round of drinks"),
)
COMMENTS = ("Lovely!", "Count me in", "How did you do that?", "More of this, please")
PLATFORM, GATE, LATE = "platform", "gate", "late"


@dataclass(frozen=True, slots=True)
class TripNews:
    """News of a trip: its platform or gate, or its delay in minutes."""

    id: int = 0
    trip: int = 0
    about: str = PLATFORM
    number: int = 0


def news_words(news: TripNews, language: Language) -> str:
    match news.about:
        case "late":
            return language.tr("About {count} minutes late", count=news.number)
        case "gate":
            return language.tr("Leaves from gate {number}", number=news.number)
        case _:
            return language.tr("Leaves from platform {number}", number=news.number)
