"""Journeys between cities: what runs on a day, and which trips were booked.

Connections are a pure function of the phone's travel seed, the two cities and the day, so that a
judge computes the same prices that the app shows.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from phonesim.contents.cities import CITIES
from phonesim.contents.timestamps import LONG_AGO
from phonesim.facts import Facts

CITY_NAMES = tuple(city.name for city in CITIES)
OPERATORS = ("Aurora Rail", "Northline", "Bluebird Coaches", "Indigo Air", "Sable Rail")
PER_DAY = 6
CANCELLATION_CENTS = 5_00
WINDOW, AISLE = "Window", "Aisle"


@dataclass(frozen=True, slots=True)
class Trip:
    """A journey that was booked."""

    id: int = 0
    origin: str = ""
    destination: str = ""
    depart: datetime = LONG_AGO
    arrive: datetime = LONG_AGO
    operator: str = ""
    cents: int = 0
    code: str = ""
    seat: str = ""
    traveller: str = ""
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Traveller:
    """Somebody to book for."""

    id: int = 0
    name: str = ""
    discount_card: bool = False


@dataclass(frozen=True, slots=True)
class WatchedRoute:
    """A way between two cities whose prices are watched."""

    id: int = 0
    origin: str = ""
    destination: str = ""


@dataclass(frozen=True, slots=True)
class TravelSettings:
    """Where we live, what we like; `seed` decides the timetable. There is one."""

    id: int = 0
    home_city: str = "Berlin"
    seed: int = 0
    seat: str = WINDOW
    delay_alerts: bool = True
    price_alerts: bool = False
    quiet_coach: bool = False
    green_first: bool = False
    newsletter: bool = False


class Connection(NamedTuple):
    """A train, coach or plane on one day."""

    origin: str
    destination: str
    depart: datetime
    arrive: datetime
    operator: str
    stops: int
    cents: int

    @property
    def minutes(self) -> int:
        return int((self.arrive - self.depart).total_seconds()) // 60


@lru_cache(maxsize=1024)
def connections(seed: int, origin: str, destination: str, day: date) -> tuple[Connection, ...]:
    """What runs on that day, in order of departure. No two cost or last the same."""
    if origin == destination:
        return ()
    rng = random.Random(f"journeys/{seed}/{origin}/{destination}/{day}")
    base = random.Random(f"distance/{min(origin, destination)}/{max(origin, destination)}")
    least = base.randrange(90, 600, 10)
    lasts = rng.sample(range(least, least + 200, 5), PER_DAY)
    prices = rng.sample(range(12_50 + least * 8, 12_50 + least * 8 + 70_00, 50), PER_DAY)
    starts = sorted(rng.sample(range(5 * 60, 22 * 60, 10), PER_DAY))
    midnight = datetime(day.year, day.month, day.day)
    return tuple(
        Connection(
            origin,
            destination,
            midnight + timedelta(minutes=start),
            midnight + timedelta(minutes=start + last),
            rng.choice(OPERATORS),
            rng.randrange(3),
            cents,
        )
        for start, last, cents in zip(starts, lasts, prices, strict=True)
    )


def booking_code(connection: Connection, seed: int) -> str:
    rng = random.Random(f"booking/{seed}/{connection}")
    return "".join(rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ23456789") for _ in range(6))


def trip_of(connection: Connection, settings: TravelSettings, traveller: str) -> Trip:
    """The trip that a booking of this connection makes."""
    rng = random.Random(f"seat/{settings.seed}/{connection}")
    letter = rng.choice("AF" if settings.seat == WINDOW else "CD")
    return Trip(
        0,
        connection.origin,
        connection.destination,
        connection.depart,
        connection.arrive,
        connection.operator,
        connection.cents,
        booking_code(connection, settings.seed),
        f"{rng.randrange(1, 40)}{letter}",
        traveller,
    )


def furnish_journeys(facts: Facts, rng: random.Random, now: datetime) -> None:
    """Two trips to come, two that are over, one that was cancelled."""
    home = rng.choice(CITY_NAMES)
    settings = facts.add(TravelSettings(home_city=home, seed=rng.randrange(10**6)))
    facts.add(Traveller(name="Me"))
    others = rng.sample([city for city in CITY_NAMES if city != home], 7)
    for place, (city, days) in enumerate(zip(others, (6, 19, -12, -40, 9), strict=False)):
        day = now.date() + timedelta(days=days + rng.randrange(3))
        chosen = rng.choice(connections(settings.seed, home, city, day))
        trip = facts.add(trip_of(chosen, settings, "Me"))
        if place == 4:
            facts.edit(trip, cancelled=True)
    facts.add(WatchedRoute(origin=home, destination=others[5]))
    facts.add(WatchedRoute(origin=home, destination=others[6]))
