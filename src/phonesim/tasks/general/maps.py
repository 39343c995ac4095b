"""Tasks in the app Maps: places, saved places, routes."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.directions import MODES
from phonesim.contents.gazetteer import Navigation, Place, SavedPlace
from phonesim.contents.places import KINDS, SPOTS
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.differences import only_added, only_changed, only_removed
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import Template, View

PLACES = Domain("places", tuple(spot.name for spot in SPOTS if spot.kind != "Station"))
BUSINESSES = tuple(
    spot.name for spot in SPOTS if spot.kind in ("Restaurant", "Café", "Museum", "Shop")
)
MODE_OF = {  # in an instruction: in the app
    "by car": "Car",
    "in my car": "Car",
    "by public transport": "Transit",
    "by tram": "Transit",
    "on foot": "Walk",
    "walking": "Walk",
    "by bike": "Bike",
    "on my bicycle": "Bike",
}
WAYS = Domain("means of travel", tuple(MODE_OF))
PLACE_KINDS = Domain(
    "kinds of places",
    tuple(kind for kind in KINDS if kind != "Station"),
    say=lambda kind: kind.lower(),
)


def place_of(view: View, name: str) -> Place:
    return next(place for place in view.all(Place) if place.name == name)


def unsave(facts: Facts, name: str) -> None:
    place = facts.find(Place, lambda p: p.name == name)
    facts.remove_where(SavedPlace, lambda s: place is not None and s.place == place.id)


def put_saved(facts: Facts, name: str) -> None:
    unsave(facts, name)
    place = facts.find(Place, lambda p: p.name == name)
    if place:
        facts.add(SavedPlace(place=place.id))


def set_clear_best(facts: Facts, kind: str, rng: random.Random) -> None:
    """Give the places of a kind distinct ratings, so that exactly one is the best."""
    places = facts.where(Place, lambda p: p.kind == kind)
    ratings = rng.sample(range(31, 50), len(places))
    for place, rating in zip(places, ratings, strict=True):
        facts.edit(place, rating=rating / 10)


def best_of(view: View, kind: str) -> Place:
    return max((p for p in view.all(Place) if p.kind == kind), key=lambda p: p.rating)


def open_place(name: str) -> Iterable[Move]:
    yield Open("Maps")
    yield Fill("Search places", name)
    yield Press(name, "row")


@dataclass(frozen=True)
class SavePlace(Template):
    name = "maps.save_place"
    apps = ("Maps",)
    difficulty = "medium"
    phrasings = (
        "Save {place} in Maps",
        "Add {place} to my saved places",
        "I want to find {place} again later. Save it in Maps",
    )
    touches = (SavedPlace,)
    place: str = parameter(PLACES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        unsave(facts, self.place)

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, SavedPlace, place=place_of(start, self.place).id)

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_place(self.place)
        yield Press("Save")


@dataclass(frozen=True)
class RemoveSavedPlace(Template):
    name = "maps.remove_saved_place"
    apps = ("Maps",)
    difficulty = "medium"
    phrasings = (
        "Remove {place} from my saved places",
        "Take {place} off the list of saved places in Maps",
        "{place} no longer needs to be saved in Maps",
    )
    touches = (SavedPlace,)
    place: str = parameter(PLACES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_saved(facts, self.place)

    def missing(self, start: View, end: View) -> str | None:
        place = place_of(start, self.place).id
        saved = next(s for s in start.all(SavedPlace) if s.place == place)
        return only_removed(start, end, SavedPlace, saved.id)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Maps")
        yield Press("Saved", "tab")
        yield Press(self.place)
        yield Press("Saved", "button")


@dataclass(frozen=True)
class SaveBestRated(Template):
    name = "maps.save_best_rated"
    apps = ("Maps",)
    difficulty = "medium"
    phrasings = (
        "Save the {kind} with the best rating in Maps",
        "Which {kind} in Maps is rated highest? Save it",
        "Find the best rated {kind} on the map and add it to my saved places",
    )
    touches = (SavedPlace,)
    kind: str = parameter(PLACE_KINDS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        set_clear_best(facts, self.kind, rng)
        for place in facts.where(Place, lambda p: p.kind == self.kind):
            unsave(facts, place.name)

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, SavedPlace, place=best_of(start, self.kind).id)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Maps")
        yield Press(KINDS[self.kind][0])
        yield Press(best_of(start, self.kind).name)
        yield Press("Save")


@dataclass(frozen=True)
class Navigate(Template):
    name = "maps.navigate"
    apps = ("Maps",)
    difficulty = "medium"
    phrasings = (
        "Start navigation to {place} {means}",
        "Guide me to {place} {means} with Maps",
        "I am going to {place} {means}. Start the navigation",
    )
    touches = (Navigation,)
    place: str = parameter(PLACES)
    means: str = parameter(WAYS)

    def missing(self, start: View, end: View) -> str | None:
        trip, goal = end.one(Navigation), place_of(start, self.place).id
        if not trip.active:
            return "the navigation was not started"
        if (trip.origin, trip.destination) != (0, goal):
            return "the navigation leads along another way"
        return None if trip.mode == MODE_OF[self.means] else f"the navigation is for {trip.mode!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_place(self.place)
        yield Press("Directions")
        if MODE_OF[self.means] != "Car":
            yield Press(MODE_OF[self.means], "tab")
        yield Press("Start")


@dataclass(frozen=True)
class ShowDirections(Template):
    name = "maps.show_directions"
    apps = ("Maps",)
    difficulty = "hard"
    phrasings = (
        "Show me the way from {origin} to {place} {means}",
        "Get directions from {origin} to {place} {means}, but do not start the navigation",
        "How do I get from {origin} to {place} {means}? Show it in Maps",
    )
    origin: str = parameter(PLACES)
    place: str = parameter(PLACES)
    means: str = parameter(WAYS)

    def sensible(self) -> bool:
        return self.origin != self.place

    def missing(self, start: View, end: View) -> str | None:
        if (end.app, end.page) != ("Maps", "directions"):
            return "the page in front shows no directions"
        ends = (end.memory.get("origin"), end.memory.get("destination"))
        if ends != (place_of(start, self.origin).id, place_of(start, self.place).id):
            return "the directions are between other places"
        mode = end.memory.get("mode", 0)
        return (
            None
            if mode == MODES.index(MODE_OF[self.means])
            else "the directions are for other means"
        )

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_place(self.place)
        yield Press("Directions")
        yield Press("From")
        yield Fill("Search places", self.origin)
        yield Press(self.origin, "row")
        if MODE_OF[self.means] != "Car":
            yield Press(MODE_OF[self.means], "tab")


@dataclass(frozen=True)
class NavigateBetween(Template):
    name = "maps.navigate_between"
    apps = ("Maps",)
    difficulty = "hard"
    held_out = True
    phrasings = (
        "Start navigation from {origin} to {place} {means}",
        "Plan a trip from {origin} to {place} {means} and start it",
        "I am at {origin}. Start guiding me from there to {place} {means}",
    )
    touches = (Navigation,)
    origin: str = parameter(PLACES)
    place: str = parameter(PLACES)
    means: str = parameter(WAYS)

    def sensible(self) -> bool:
        return self.origin != self.place

    def missing(self, start: View, end: View) -> str | None:
        origin, goal = place_of(start, self.origin).id, place_of(start, self.place).id
        return only_changed(
            start,
            end,
            Navigation,
            start.one(Navigation).id,
            active=True,
            origin=origin,
            destination=goal,
            mode=MODE_OF[self.means],
        )

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_place(self.place)
        yield Press("Directions")
        yield Press("From")
        yield Fill("Search places", self.origin)
        yield Press(self.origin, "row")
        if MODE_OF[self.means] != "Car":
            yield Press(MODE_OF[self.means], "tab")
        yield Press("Start")


TEMPLATES: tuple[type[Template], ...] = (
    SavePlace,
    RemoveSavedPlace,
    SaveBestRated,
    Navigate,
    ShowDirections,
    NavigateBetween,
)
