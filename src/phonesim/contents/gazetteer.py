"""The records of Maps: places and their details, saved places, the current navigation.

The places themselves are the same on every phone; ratings, opening hours, telephone numbers and
timetables are not, so they cannot be answered without looking.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import ClassVar

from phonesim.contents.places import AVENUES, SPOTS, STREETS
from phonesim.contents.transit import ROUTES, TransitLine
from phonesim.facts import Facts


@dataclass(frozen=True, slots=True)
class Place:
    """A place with its details."""

    id: int = 0
    name: str = ""
    kind: str = ""
    address: str = ""
    x: int = 0
    y: int = 0
    rating: float = 4.0
    opens: int = 9  # hours of the day; 0 and 24 mean always open
    closes: int = 18
    phone: str = ""

    @property
    def hours(self) -> str:
        always = self.opens == 0 and self.closes == 24
        return "Open 24 hours" if always else f"{self.opens:02d}:00 – {self.closes:02d}:00"


@dataclass(frozen=True, slots=True)
class SavedPlace:
    """A place on the list of saved ones."""

    id: int = 0
    place: int = 0


@dataclass(frozen=True, slots=True)
class Navigation:
    """The current route guidance; there is one record. Origin 0 is the phone's position."""

    SINGLE: ClassVar[bool] = True
    id: int = 0
    active: bool = False
    origin: int = 0
    destination: int = 0
    mode: str = ""


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """The position of the phone; there is one record."""

    id: int = 0
    x: int = 0
    y: int = 0


@dataclass(frozen=True, slots=True)
class RecentSearch:
    """A place that was searched for."""

    INCIDENTAL: ClassVar[bool] = True
    id: int = 0
    place: int = 0


def furnish_town(facts: Facts, rng: random.Random) -> None:
    """Add the places of the town to a new phone."""
    for spot in SPOTS:
        always = spot.kind in ("Station", "Park", "Hotel")
        opens, closes = (0, 24) if always else (rng.randrange(7, 12), rng.randrange(17, 24))
        rating = rng.randrange(30, 50) / 10
        phone = f"555 {rng.randrange(100, 1000)} {rng.randrange(1000, 10000)}"
        place = Place(0, spot.name, spot.kind, spot.address, *spot.point, rating, opens)
        facts.edit(facts.add(place), closes=closes, phone=phone)
    for place in rng.sample([p for p in facts.all(Place) if p.kind != "Station"], 4):
        facts.add(SavedPlace(place=place.id))
    for line in ROUTES:
        first = rng.randrange(290, 330)
        facts.add(TransitLine(name=line, first=first, every=rng.choice((10, 12, 15, 20))))
    x, y = rng.choice(list(AVENUES.values())), rng.choice(list(STREETS.values()))
    facts.add(Whereabouts(x=x, y=y))
    facts.add(Navigation())
