"""The app Maps, by taps, and the ways and timetables behind it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from tests.phonesim.conftest import Use

from distrl.records import OpenApp, Swipe
from phonesim.contents.directions import MODES, find_way
from phonesim.contents.gazetteer import Navigation, Place, RecentSearch, SavedPlace
from phonesim.contents.places import HEIGHT, SPOT_OF, SPOTS, WIDTH
from phonesim.contents.transit import (
    ROUTES,
    TransitLine,
    departures,
    next_departures,
    rides,
)
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, Press


@pytest.fixture
def phone(phone: Phone) -> Phone:
    phone.perform(OpenApp("Maps"))
    return phone


def named(phone: Phone, name: str) -> Place:
    return next(place for place in phone.facts.all(Place) if place.name == name)


def test_a_place_is_saved_and_taken_off_again(phone: Phone, finger: Finger, use: Use) -> None:
    place = named(phone, "Inkwell Books")
    phone.facts.remove_where(SavedPlace, lambda saved: saved.place == place.id)
    use(Fill("Search places", "ink"), Press("Inkwell Books", "row"))
    assert {place.hours, place.phone, place.address, f"{place.rating:.1f}"} <= finger.labels
    use(Press("Save"))
    assert phone.facts.find(SavedPlace, lambda saved: saved.place == place.id)
    use(Press("Saved", "button"))
    assert not phone.facts.find(SavedPlace, lambda saved: saved.place == place.id)
    assert [recent.place for recent in phone.facts.all(RecentSearch)] == [place.id]


def test_directions_between_two_places_are_started_and_stopped(
    phone: Phone, finger: Finger, use: Use
) -> None:
    start, end = named(phone, "Grand Fenn"), named(phone, "Abbey Gardens")
    use(Fill("Search places", end.name), Press(end.name, "row"), Press("Directions"))
    use(Press("From"), Fill("Search places", start.name), Press(start.name, "row"))
    use(Press("Bike", "tab"))
    way = find_way((start.x, start.y), (end.x, end.y), "Bike", end.name)
    assert f"{way.minutes} min" in finger.labels
    use(Press("Start"))
    trip = phone.facts.one(Navigation)
    assert (trip.active, trip.origin, trip.destination) == (True, start.id, end.id)
    assert trip.mode == "Bike"
    use(Press("Stop"))
    assert not phone.facts.one(Navigation).active


def test_the_map_moves_under_a_finger(phone: Phone) -> None:
    def pins() -> set[str]:
        return {element.text for element in phone.elements() if element.role == "pin"}

    before = pins()
    for _ in range(6):
        phone.perform(Swipe(0.2, 0.5, 0.9, 0.7, 0.5))
    assert pins()
    assert pins() != before


def test_a_station_shows_its_next_departures(phone: Phone, use: Use) -> None:
    use(Fill("Search places", "Orchard"), Press("Orchard Station", "row"))
    line = next(line for line in phone.facts.all(TransitLine) if line.name == "Line 2")
    first = departures(line, "Orchard Station", "Foundry Station", phone.now)[0]
    (row,) = [e for e in phone.elements() if e.text == "Line 2 to Foundry Station"]
    assert row.value == first
    assert first >= f"{phone.now:%H:%M}"


def test_departures_follow_the_timetable_and_begin_anew_after_midnight() -> None:
    # Abbey to Orchard: 120 + 125 pixels of 5 m, at 320 m a minute 4, and 1 for the stop.
    line = TransitLine(name="Line 2", first=300, every=20)
    noon = datetime(2026, 3, 1, 12, 0)
    assert departures(line, "Orchard Station", "Foundry Station", noon) == [
        "12:05",
        "12:25",
        "12:45",
    ]
    late = datetime(2026, 3, 1, 23, 50)
    assert departures(line, "Orchard Station", "Foundry Station", late)[0] == "05:05"
    later = noon + timedelta(minutes=10)
    both = next_departures(line, "Orchard Station", "Foundry Station", noon, later)
    assert both == {"12:05", "12:25"}


def test_every_station_is_on_the_map_and_can_be_reached() -> None:
    stations = [spot.name for spot in SPOTS if spot.kind == "Station"]
    assert {station for route in ROUTES.values() for station in route} == set(stations)
    for station in stations:
        way = rides(stations[0], station)
        assert (way[-1].end == station) if way else station == stations[0]


def test_every_place_is_on_the_map_at_a_spot_of_its_own() -> None:
    points = [spot.point for spot in SPOTS]
    assert len(set(points)) == len(SPOT_OF) == len(SPOTS)
    assert all(20 < x < WIDTH - 20 and 20 < y < HEIGHT - 20 for x, y in points)


@pytest.mark.parametrize("mode", MODES)
def test_ways_end_at_their_goal_and_run_along_streets(mode: str) -> None:
    for start in SPOTS[::5]:
        for end in SPOTS[1::7]:
            way = find_way(start.point, end.point, mode, end.name)
            assert way.minutes >= 1
            assert (way.line[0], way.line[-1]) == (start.point, end.point)
            assert end.name in way.steps[-1].text
            pairs = zip(way.line, way.line[1:], strict=False)
            assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairs)
