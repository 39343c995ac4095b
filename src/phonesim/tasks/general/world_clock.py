"""Tasks on the world clock of the app Clock."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from phonesim.contents.time_zones import TIME_ZONES, hours_ahead, time_in
from phonesim.contents.timepieces import WorldCity, time_text
from phonesim.facts import Facts
from phonesim.system import SystemSettings
from phonesim.tasks.answers import states_number, states_time
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.alarms import uses_24_hours
from phonesim.tasks.general.differences import only_added, only_removed
from phonesim.tasks.moves import Fill, Move, Open, Press, Say
from phonesim.tasks.template import Template, View

CITY_NAMES = Domain("world cities", tuple(city for city in TIME_ZONES if city != "Berlin"))
WHOLE_HOURS = range(1, 20)
SLACK = 2  # minutes that may pass between reading the time and saying it


def put_city(facts: Facts, name: str) -> None:
    if not facts.find(WorldCity, lambda city: city.name == name):
        facts.add(WorldCity(name=name))


@dataclass(frozen=True)
class AddCity(Template):
    name = "clock.add_city"
    apps = ("Clock",)
    difficulty = "medium"
    phrasings = (
        "Add {city} to the world clock",
        "I want to see the time in {city} in the Clock app",
        "Show {city} on my world clock",
    )
    touches = (WorldCity,)
    city: str = parameter(CITY_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(WorldCity, lambda city: city.name == self.city)

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, WorldCity, name=self.city)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Clock")
        yield Press("World clock", role="tab")
        yield Press("Add city")
        yield Fill("Search cities", self.city)
        yield Press(self.city, role="row")


@dataclass(frozen=True)
class RemoveCity(Template):
    name = "clock.remove_city"
    apps = ("Clock",)
    difficulty = "easy"
    phrasings = (
        "Remove {city} from the world clock",
        "I no longer need the time in {city} on my world clock",
        "Take {city} off the list of cities in the Clock app",
    )
    touches = (WorldCity,)
    city: str = parameter(CITY_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_city(facts, self.city)

    def missing(self, start: View, end: View) -> str | None:
        shown = next(city for city in start.all(WorldCity) if city.name == self.city)
        return only_removed(start, end, WorldCity, shown.id)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Clock")
        yield Press("World clock", role="tab")
        yield Press(f"Remove {self.city}")


@dataclass(frozen=True)
class AskDifference(Template):
    name = "clock.ask_difference"
    apps = ("Clock",)
    difficulty = "easy"
    phrasings = (
        "By how many hours does the time in {city} differ from mine? It is on my world clock",
        "Look at the world clock: how many hours lie between here and {city}?",
        "What is the time difference to {city} in hours, according to my world clock?",
    )
    city: str = parameter(CITY_NAMES)

    def sensible(self) -> bool:
        return bool(self._away())

    def _away(self) -> dict[str, float]:
        """Return the cities whose time differs by 1 to 19 whole hours, and by how many."""
        hours = {home: abs(hours_ahead(self.city, home)) for home in TIME_ZONES}
        return {home: away for home, away in hours.items() if away in WHOLE_HOURS}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        """Set a random time zone that is whole hours away, so that it must be looked up."""
        away = self._away()
        hours = rng.choice(sorted(set(away.values())))
        facts.change(SystemSettings, timezone=rng.choice([c for c in away if away[c] == hours]))
        put_city(facts, self.city)

    def hours(self, view: View) -> int:
        return abs(round(hours_ahead(self.city, view.one(SystemSettings).timezone)))

    def missing(self, start: View, end: View) -> str | None:
        hours = self.hours(start)
        if states_number(end.answer, hours) or states_number(end.answer, -hours):
            return None
        return f"the difference is {hours} hours; the answer: {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Clock")
        yield Press("World clock", role="tab")
        yield Say(f"{self.hours(start)} hours")


@dataclass(frozen=True)
class AskTime(Template):
    name = "clock.ask_time"
    apps = ("Clock",)
    difficulty = "easy"
    phrasings = (
        "What time is it in {city}? I have it on my world clock",
        "Look up the current time in {city} on the world clock",
        "Tell me what time it is in {city} right now, according to my world clock",
    )
    held_out = True
    city: str = parameter(CITY_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_city(facts, self.city)

    def missing(self, start: View, end: View) -> str | None:
        there = time_in(self.city, start.one(SystemSettings).timezone, end.now)
        recent = (there - timedelta(minutes=ago) for ago in range(SLACK + 1))
        if any(states_time(end.answer, moment.time()) for moment in recent):
            return None
        return f"there it is {there:%H:%M}; the answer: {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        there = time_in(self.city, start.one(SystemSettings).timezone, start.now)
        soon = there + timedelta(seconds=15)  # three actions from now
        yield Open("Clock")
        yield Press("World clock", role="tab")
        yield Say(time_text(soon.hour, soon.minute, uses_24_hours(start)))


TEMPLATES: tuple[type[Template], ...] = (AddCity, RemoveCity, AskDifference, AskTime)
