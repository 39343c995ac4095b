"""Tasks in the app Maps that end with an answer, or with writing down what was found."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import time

from phonesim.apps.notes import Note
from phonesim.contents.directions import find_way
from phonesim.contents.gazetteer import Place, Whereabouts
from phonesim.contents.places import KINDS
from phonesim.contents.transit import (
    ROUTES,
    TransitLine,
    departures,
    next_departures,
)
from phonesim.facts import Facts
from phonesim.tasks.answers import mentions, states_number, states_time
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.differences import only_added
from phonesim.tasks.general.maps import (
    BUSINESSES,
    MODE_OF,
    PLACE_KINDS,
    PLACES,
    WAYS,
    best_of,
    open_place,
    place_of,
    set_clear_best,
)
from phonesim.tasks.moves import Fill, Move, Open, Press, Reveal, Say
from phonesim.tasks.structured_answers import states_quantity
from phonesim.tasks.template import Template, View

STOPS = Domain(  # line, station, end of the line
    "tram stops",
    tuple(
        (line, station, end)
        for line, stations in ROUTES.items()
        for end in (stations[0], stations[-1])
        for station in stations
        if station != end
    ),
)


def digits(text: str | None) -> str:
    return "".join(re.findall(r"\d", text or ""))


def set_hours(facts: Facts, name: str, rng: random.Random) -> None:
    """Give a place random opening hours, so that they must be looked up."""
    place = next(p for p in facts.all(Place) if p.name == name)
    facts.edit(place, opens=rng.randrange(4, 13), closes=rng.randrange(14, 24))


@dataclass(frozen=True)
class OpeningTime(Template):
    name = "maps.opening_time"
    apps = ("Maps",)
    difficulty = "medium"
    phrasings = (
        "When does {place} open?",
        "At what time can I get into {place}? Look up when it opens in Maps",
        "Look up the time at which {place} opens",
    )
    place: str = parameter(PLACES)

    def sensible(self) -> bool:
        return self.place in BUSINESSES

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        set_hours(facts, self.place, rng)

    def hour(self, view: View) -> int:
        return place_of(view, self.place).opens

    def missing(self, start: View, end: View) -> str | None:
        hour = self.hour(start)
        right = states_time(end.answer, time(hour))
        return None if right else f"the answer {end.answer!r} does not say {hour:02d}:00"

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_place(self.place)
        yield Reveal(place_of(start, self.place).hours)
        yield Say(f"{self.hour(start):02d}:00")


@dataclass(frozen=True)
class ClosingTime(OpeningTime):
    name = "maps.closing_time"
    held_out = True
    phrasings = (
        "Until what time is {place} open?",
        "When does {place} close? Check in Maps",
        "Tell me the closing time of {place}",
    )

    def hour(self, view: View) -> int:
        return place_of(view, self.place).closes


@dataclass(frozen=True)
class PlacePhone(Template):
    name = "maps.place_phone"
    apps = ("Maps",)
    difficulty = "medium"
    phrasings = (
        "What is the phone number of {place}?",
        "Find the telephone number of {place} in Maps",
        "I want to call {place}. Which number do I dial?",
    )
    place: str = parameter(PLACES)

    def missing(self, start: View, end: View) -> str | None:
        phone = place_of(start, self.place).phone
        right = digits(end.answer) == digits(phone)
        return None if right else f"the answer {end.answer!r} does not give {phone}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_place(self.place)
        yield Reveal(place_of(start, self.place).phone)
        yield Say(place_of(start, self.place).phone)


@dataclass(frozen=True)
class PlaceRating(Template):
    name = "maps.place_rating"
    apps = ("Maps",)
    difficulty = "medium"
    phrasings = (
        "How is {place} rated in Maps?",
        "What rating does {place} have?",
        "Look up how many stars {place} has in Maps",
    )
    place: str = parameter(PLACES)

    def missing(self, start: View, end: View) -> str | None:
        rating = place_of(start, self.place).rating
        right = states_number(end.answer, rating, ["5 stars"])
        return None if right else f"the answer {end.answer!r} does not say {rating}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_place(self.place)
        yield Say(f"{place_of(start, self.place).rating:.1f}")


@dataclass(frozen=True)
class BestRated(Template):
    name = "maps.best_rated"
    apps = ("Maps",)
    difficulty = "easy"
    phrasings = (
        "Which {kind} has the best rating in Maps?",
        "What is the highest rated {kind} in town? Look in Maps",
        "Name the {kind} that people rate highest in Maps",
    )
    kind: str = parameter(PLACE_KINDS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        set_clear_best(facts, self.kind, rng)

    def missing(self, start: View, end: View) -> str | None:
        best = best_of(start, self.kind)
        others = [p.name for p in start.all(Place) if p.name != best.name]
        right = mentions(end.answer, best.name, others)
        return None if right else f"the answer {end.answer!r} does not name {best.name!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Maps")
        yield Press(KINDS[self.kind][0])
        yield Reveal(best_of(start, self.kind).name)
        yield Say(best_of(start, self.kind).name)


@dataclass(frozen=True)
class TravelTime(Template):
    name = "maps.travel_time"
    apps = ("Maps",)
    difficulty = "medium"
    phrasings = (
        "How many minutes does it take from here to {place} {means}?",
        "How long does it take me to get to {place} {means}? Look in Maps",
        "Check in Maps how many minutes it is to {place} {means}",
    )
    place: str = parameter(PLACES)
    means: str = parameter(WAYS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        """Set the phone's position to a place that is not close to the destination."""
        goal = next(p for p in facts.all(Place) if p.name == self.place)
        far = [p for p in facts.all(Place) if abs(p.x - goal.x) + abs(p.y - goal.y) > 250]
        here = rng.choice(far)
        facts.change(Whereabouts, x=here.x, y=here.y)

    def _minutes(self, view: View) -> int:
        here, goal = view.one(Whereabouts), place_of(view, self.place)
        return find_way((here.x, here.y), (goal.x, goal.y), MODE_OF[self.means], goal.name).minutes

    def missing(self, start: View, end: View) -> str | None:
        minutes = self._minutes(start)
        right = states_number(end.answer, minutes) or states_quantity(end.answer, minutes, "min")
        return None if right else f"the answer {end.answer!r} does not say {minutes} minutes"

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_place(self.place)
        yield Press("Directions")
        if MODE_OF[self.means] != "Car":
            yield Press(MODE_OF[self.means], "tab")
        yield Say(f"{self._minutes(start)} minutes")


@dataclass(frozen=True)
class NextDeparture(Template):
    name = "maps.next_departure"
    apps = ("Maps",)
    difficulty = "medium"
    phrasings = (
        "When does the next {line} to {end} leave from {station}?",
        "I am at {station} and want to take {line} towards {end}. At what time does it leave next?",
        "Look up the next departure of {line} to {end} at {station}",
    )
    stop: tuple[str, str, str] = parameter(STOPS)

    def words(self) -> dict[str, str]:
        line, station, end = self.stop
        return {"line": line, "station": station, "end": end}

    def _line(self, view: View) -> TransitLine:
        return next(line for line in view.all(TransitLine) if line.name == self.stop[0])

    def missing(self, start: View, end: View) -> str | None:
        _, station, goal = self.stop
        times = next_departures(self._line(start), station, goal, start.now, end.now)
        right = any(states_time(end.answer, time.fromisoformat(at)) for at in times)
        return None if right else f"the answer {end.answer!r} is not {' or '.join(sorted(times))}"

    def solve(self, start: View) -> Iterable[Move]:
        line, station, goal = self.stop
        yield from open_place(station)
        yield Reveal(f"{line} to {goal}")
        yield Say(departures(self._line(start), station, goal, start.now)[0])


@dataclass(frozen=True)
class NotePhone(Template):
    name = "maps.note_phone"
    apps = ("Maps", "Notes")
    difficulty = "hard"
    phrasings = (
        "Write the phone number of {place} into a new note",
        "Look up the number of {place} in Maps and make a note of it in Notes",
        "I have to call {place} later. Put its telephone number into a note",
    )
    touches = (Note,)
    place: str = parameter(PLACES)

    def missing(self, start: View, end: View) -> str | None:
        wrong = only_added(start, end, Note)
        if wrong:
            return wrong
        phone, note = place_of(start, self.place).phone, end.all(Note)[-1]
        text = f"{note.title} {note.text}"
        right = digits(text) == digits(phone)
        return None if right else f"the note says {text!r}, not {phone!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_place(self.place)
        yield Open("Notes")
        yield Press("New note")
        yield Fill("Text", place_of(start, self.place).phone)
        yield Press("Save")


TEMPLATES: tuple[type[Template], ...] = (
    OpeningTime,
    ClosingTime,
    PlacePhone,
    PlaceRating,
    BestRated,
    TravelTime,
    NextDeparture,
    NotePhone,
)
