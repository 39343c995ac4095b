"""Journeys between cities: the connections of a day, and booked trips.

Connections are a pure function of the phone's travel seed, the two cities and the day, so a judge
computes the same prices that the app shows. The means follow from the distance: rail and coach
between cities of one mainland, air over long distances or across a sea.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Literal, NamedTuple

from phonesim.contents.cities import CITIES, CITY_OF
from phonesim.contents.timestamps import LONG_AGO
from phonesim.facts import Facts

CITY_NAMES = tuple(city.name for city in CITIES)
Means = Literal["rail", "road", "air"]
OPERATORS: dict[Means, tuple[str, ...]] = {
    "rail": ("Aurora Rail", "Northline", "Sable Rail"),
    "road": ("Bluebird Bus", "Pine Coaches"),
    "air": ("Saltwind Air", "Lantern Air", "Marlow Air"),
}
MEANS_OF: dict[str, Means] = {name: means for means, names in OPERATORS.items() for name in names}
MAINLANDS = (
    {
        "Amsterdam", "Athens", "Berlin", "Copenhagen", "Istanbul", "Lisbon", "Madrid", "Oslo",
        "Prague", "Rome", "Stockholm", "Vienna", "Zurich",
    },
    {"Chicago", "Montreal"},
)  # fmt: skip
NO_FLIGHT_KM, NO_COACH_KM, NO_TRAIN_KM = 300, 1200, 1800  # air from, coach to, rail to
PER_DAY = 6
CANCELLATION_CENTS = 5_00
WINDOW, AISLE = "Window", "Aisle"


@dataclass(frozen=True, slots=True)
class Trip:
    """A booked journey."""

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
    """A person to book for."""

    id: int = 0
    name: str = ""
    discount_card: bool = False


@dataclass(frozen=True, slots=True)
class WatchedRoute:
    """A pair of cities whose prices are watched."""

    id: int = 0
    origin: str = ""
    destination: str = ""


@dataclass(frozen=True, slots=True)
class TravelSettings:
    """Home city and preferences; `seed` determines the timetable. There is one record."""

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


def kilometres(origin: str, destination: str) -> int:
    """Return the great-circle distance between two cities."""
    here, there = (_on_the_ball(name) for name in (origin, destination))
    cosine = sum(a * b for a, b in zip(here, there, strict=True))
    return round(6371 * math.acos(max(-1.0, min(1.0, cosine))))


def _on_the_ball(name: str) -> tuple[float, float, float]:
    city = CITY_OF[name]
    north, east = math.radians(-city.latitude if city.south else city.latitude), city.longitude
    around = math.cos(north)
    return (
        around * math.cos(math.radians(east)),
        around * math.sin(math.radians(east)),
        math.sin(north),
    )


def means_between(origin: str, destination: str) -> tuple[Means, ...]:
    """Return the means of a day's `PER_DAY` connections between two cities."""
    far = kilometres(origin, destination)
    if far > NO_TRAIN_KM or not any({origin, destination} <= land for land in MAINLANDS):
        return ("air", "air", "air", "air", "air", "air")
    if far < NO_FLIGHT_KM:
        return ("rail", "rail", "rail", "rail", "road", "road")
    if far > NO_COACH_KM:
        return ("rail", "rail", "air", "air", "air", "air")
    return ("rail", "rail", "rail", "road", "road", "air")


def _minutes(means: Means, far: int, stops: int) -> int:
    """Return the minimum duration: a train runs 130 km/h on tracks a quarter longer."""
    if means == "air":
        return 40 + far * 60 // 800 + stops * 110
    return (20 if means == "rail" else 30) + far * 75 // (130 if means == "rail" else 85)


def _cents(means: Means, far: int, stops: int) -> int:
    if means == "air":
        return 58_00 + far * 4 - stops * 11_00
    return 14_00 + far * 10 if means == "rail" else 7_00 + far * 5


def _stops(rng: random.Random, means: Means, far: int) -> int:
    if means != "air":
        return rng.choice((0, 0, 1, 2))
    return rng.choice((0, 0, 0, 1) if far < 3000 else (0, 1, 1) if far < 9000 else (1, 1, 2))


@lru_cache(maxsize=1024)
def connections(seed: int, origin: str, destination: str, day: date) -> tuple[Connection, ...]:
    """Return a day's connections by departure; no two have the same price or duration."""
    if origin == destination:
        return ()
    rng = random.Random(f"journeys/{seed}/{origin}/{destination}/{day}")
    far = kilometres(origin, destination)
    means = rng.sample(means_between(origin, destination), PER_DAY)
    starts = sorted(rng.sample(range(5 * 60, 22 * 60, 10), PER_DAY))
    midnight = datetime(day.year, day.month, day.day)
    found: list[Connection] = []
    for start, by in zip(starts, means, strict=True):
        stops = _stops(rng, by, far)
        least = _minutes(by, far, stops)
        last = least // 5 * 5 + rng.randrange(0, 25 + least // 8, 5)
        cents = _cents(by, far, stops) // 50 * 50 + rng.randrange(0, 24_00, 50)
        while any(last == each.minutes for each in found):
            last += 5
        while any(cents == each.cents for each in found):
            cents += 50
        leaves = midnight + timedelta(minutes=start)
        arrives = leaves + timedelta(minutes=last)
        operator = rng.choice(OPERATORS[by])
        found.append(Connection(origin, destination, leaves, arrives, operator, stops, cents))
    return tuple(found)


def booking_code(connection: Connection, seed: int) -> str:
    rng = random.Random(f"booking/{seed}/{connection}")
    return "".join(rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ23456789") for _ in range(6))


def trip_of(connection: Connection, settings: TravelSettings, traveller: str) -> Trip:
    """Return the trip that booking this connection creates."""
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
    """Add two future trips, two past ones and one that was cancelled."""
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
