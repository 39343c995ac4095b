"""Tasks that read articles in the Browser: questions, and one that writes an answer down."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import time

from phonesim.apps.notes import Note
from phonesim.tasks.answers import mentions, numbers_in, states_number, states_time
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.browser import STORIES, reading
from phonesim.tasks.general.differences import only_added
from phonesim.tasks.moves import Fill, Move, Open, Press, Reveal, Say
from phonesim.tasks.template import Template, View
from phonesim.web.articles import Article, entries, stories
from phonesim.web.readings import ALMANAC, HARBOUR_POST

QUESTIONS = {
    "Founded": "in which year was {title} founded?",
    "Inhabitants": "how many people live in {title}?",
    "River": "on which river does {title} lie?",
    "Height": "how high is {title}, in metres?",
    "First climbed": "in which year was {title} first climbed?",
    "Range": "to which range does {title} belong?",
}


def _question(asked: tuple[str, str]) -> str:
    slug, fact = asked
    return QUESTIONS[fact].format(title=entries()[slug].title)


ENTRY_FACTS = Domain(
    "almanac facts",
    tuple((slug, name) for slug, article in entries().items() for name, _ in article.facts),
    say=_question,
)
TOWNS = Domain(
    "almanac towns",
    tuple(slug for slug, article in entries().items() if article.section == "Towns"),
    say=lambda slug: entries()[slug].title,
)


def _wrong(said: str | None, expected: str) -> str:
    return f"the answer is {said!r}; expected {expected!r}"


def _states(said: str | None, article: Article, fact: str) -> bool:
    """Return whether the answer gives the value of one row of an article's table."""
    value = article.fact(fact)
    digits = value.replace(",", "").removesuffix(" m")
    if digits.isdecimal():
        return states_number(said, float(digits))
    others = {dict(other.facts).get(fact, "") for other in entries().values()}
    return mentions(said, value, others)


@dataclass(frozen=True)
class AskEntry(Template):
    name = "browser.ask_entry"
    apps = ("Browser",)
    difficulty = "medium"
    phrasings = (
        "According to almanac.wiki, {asked}",
        "Look it up on Almanac: {asked}",
        "What does Almanac say: {asked}",
    )
    asked: tuple[str, str] = parameter(ENTRY_FACTS)

    def missing(self, start: View, end: View) -> str | None:
        slug, fact = self.asked
        article = entries()[slug]
        right = _states(end.answer, article, fact)
        return None if right else _wrong(end.answer, article.fact(fact))

    def solve(self, start: View) -> Iterable[Move]:
        slug, fact = self.asked
        yield from reading(ALMANAC, slug)
        yield Reveal(fact)
        yield Say(entries()[slug].fact(fact))


@dataclass(frozen=True)
class AskStory(Template):
    name = "browser.ask_story"
    apps = ("Browser",)
    difficulty = "medium"
    held_out = True
    phrasings = (
        "Read “{story}” on harbourpost.news. What does it give as “{what}”?",
        "In the Harbour Post story “{story}”, what is the {what_small}?",
        "Find “{story}” in the Harbour Post and tell me the {what_small}",
    )
    story: str = parameter(STORIES)

    def words(self) -> dict[str, str]:
        article = stories()[self.story]
        what = article.facts[0][0]
        return {"story": article.title, "what": what, "what_small": what.lower()}

    def missing(self, start: View, end: View) -> str | None:
        value = stories()[self.story].facts[0][1]
        return None if self._right(end.answer, value) else _wrong(end.answer, value)

    def _right(self, said: str | None, value: str) -> bool:
        """Return whether the answer has the right figure; its unit may be left out."""
        if ":" in value:
            return states_time(said, time.fromisoformat(value))
        (figure,) = numbers_in(value)
        figures = [figure, figure * 1e6] if value.endswith("million") else [figure]
        question = self.words().values()
        return any(states_number(said, number, question) for number in figures)

    def solve(self, start: View) -> Iterable[Move]:
        yield from reading(HARBOUR_POST, self.story)
        fact, value = stories()[self.story].facts[0]
        yield Reveal(fact)
        yield Say(value)


@dataclass(frozen=True)
class NoteFounding(Template):
    name = "browser.note_founding"
    apps = ("Browser", "Notes")
    difficulty = "hard"
    phrasings = (
        "Look up on almanac.wiki when {town} was founded and make a note titled with that year",
        "Find in Almanac the year in which {town} was founded; then write a note titled just that",
        "Create a note in Notes with the year {town} was founded as its title. Almanac knows it",
    )
    touches = (Note,)
    town: str = parameter(TOWNS)

    def missing(self, start: View, end: View) -> str | None:
        year = entries()[self.town].fact("Founded")
        return only_added(start, end, Note, title=year)

    def solve(self, start: View) -> Iterable[Move]:
        yield from reading(ALMANAC, self.town)
        yield Open("Notes")
        yield Press("New note")
        yield Fill("Title", entries()[self.town].fact("Founded"))
        yield Press("Save")


TEMPLATES: tuple[type[Template], ...] = (AskEntry, AskStory, NoteFounding)
