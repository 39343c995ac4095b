"""Trips are booked, changed and cancelled for what they cost."""

from __future__ import annotations

from datetime import date
from itertools import permutations

import pytest
from tests.phonesim.apps.everyday.test_install import everyday_phone
from tests.phonesim.conftest import Use

from phonesim.contents.calendar_events import CalendarEvent
from phonesim.contents.everyday.journeys import (
    CANCELLATION_CENTS,
    CITY_NAMES,
    MEANS_OF,
    Trip,
    connections,
)
from phonesim.contents.everyday.money import Account, Ticket
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, GoBack, Open, Press, Reveal


@pytest.fixture
def phone() -> Phone:
    return everyday_phone(1)


def coming(phone: Phone) -> Trip:
    found = [t for t in phone.facts.all(Trip) if t.depart > phone.now and not t.cancelled]
    return min(found, key=lambda trip: trip.depart)


def test_a_cancelled_trip_is_paid_back_but_for_the_fee(phone: Phone, use: Use) -> None:
    trip, before = coming(phone), phone.facts.one(Account).balance_cents
    use(Open("Travel"), Press("Next trip"), Press("Cancel trip"), Press("Cancel it"))
    assert phone.facts.get(Trip, trip.id).cancelled
    assert phone.facts.one(Account).balance_cents == before + trip.cents - CANCELLATION_CENTS


def test_a_trip_goes_into_wallet_and_calendar_once(phone: Phone, use: Use) -> None:
    trip = coming(phone)
    use(Open("Travel"), Press("Next trip"))
    for _ in range(2):
        use(Press("Add to Wallet"), Press("Add to Calendar"))
    assert [t.code for t in phone.facts.all(Ticket)].count(trip.code) == 1
    title = f"Trip to {trip.destination}"
    assert [event.title for event in phone.facts.all(CalendarEvent)].count(title) == 1


def test_nobody_travels_to_a_city_that_is_none(phone: Phone, use: Use) -> None:
    use(Open("Travel"), Fill("To", "Atlantis"), Press("Search trips"), Reveal("Did you mean"))
    use(GoBack(), Press("Clear To", role="button"), Press("Search trips"))
    assert phone.routes[-1].page == "home"


def test_a_day_has_its_timetable(phone: Phone) -> None:
    day = date(2026, 3, 14)
    found = connections(1, "Oslo", "Rome", day)
    assert found == connections(1, "Oslo", "Rome", day)
    assert found != connections(2, "Oslo", "Rome", day)
    assert len({each.cents for each in found}) == len({each.minutes for each in found}) == 6
    assert connections(1, "Oslo", "Oslo", day) == ()


@pytest.mark.parametrize(
    ("origin", "destination", "means", "hours"),
    [
        ("Prague", "Vienna", {"rail", "road"}, (2, 6)),
        ("Amsterdam", "Berlin", {"rail", "road", "air"}, (1, 11)),
        ("Dublin", "Amsterdam", {"air"}, (1, 5)),  # a sea between
        ("Buenos Aires", "Oslo", {"air"}, (15, 26)),
    ],
)
def test_far_cities_are_reached_by_air_and_near_ones_by_rail_and_road(
    origin: str, destination: str, means: set[str], hours: tuple[int, int]
) -> None:
    for day in range(1, 29):
        found = connections(day, origin, destination, date(2026, 3, day))
        assert {MEANS_OF[each.operator] for each in found} == means
        assert all(hours[0] * 60 <= each.minutes <= hours[1] * 60 for each in found)


def test_every_trip_can_be_paid_from_any_new_account() -> None:
    day = date(2026, 3, 14)
    dearest = max(
        each.cents
        for origin, destination in permutations(CITY_NAMES, 2)
        for each in connections(1, origin, destination, day)
    )
    assert dearest < 1400_00  # the least that an account begins with
