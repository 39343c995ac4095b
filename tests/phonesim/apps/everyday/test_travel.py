"""Trips are booked, changed and cancelled for what they cost."""

from __future__ import annotations

from datetime import date

import pytest
from tests.phonesim.apps.everyday.test_install import everyday_phone
from tests.phonesim.conftest import Use

from phonesim.contents.calendar_events import CalendarEvent
from phonesim.contents.everyday.journeys import CANCELLATION_CENTS, Trip, connections
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
