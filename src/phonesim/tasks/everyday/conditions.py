"""Conditions of tasks that do one of two things, depending on whether the condition holds."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time

from phonesim.apps.weather import WeatherSettings
from phonesim.contents.calendar_events import CalendarEvent
from phonesim.contents.everyday.money import (
    Account,
    WalletSettings,
    plain_money,
)
from phonesim.contents.forecasts import day_forecast
from phonesim.contents.gazetteer import Place
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.everyday.parts import Condition
from phonesim.tasks.everyday.put import (
    AMOUNTS,
    COMPANIES,
    bill_of,
    put_bill,
)
from phonesim.tasks.everyday.sources import SHOPS
from phonesim.tasks.general import weather
from phonesim.tasks.general.calendar import EVENTS, add_event, event_called, find
from phonesim.tasks.general.days import today_of
from phonesim.tasks.general.maps import open_place, place_of
from phonesim.tasks.moves import Move, Open, Press, Reveal
from phonesim.tasks.template import View

MAX_SEEDS = 60  # weather seeds tried until it rains, or does not, as wanted


@dataclass(frozen=True)
class Rains(Condition):
    app, steps = "Weather", 2
    clauses = (
        "the forecast for {city} says rain {on_day}",
        "it will rain in {city} {on_day}",
    )
    city: str = parameter(weather.CITY_NAMES)
    day: str = parameter(weather.FORECAST_DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "on_day": weather.on(self.day)}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        """Set a weather seed with which it rains, or with which it does not, equally often."""
        weather.put_city(facts, self.city)
        on = weather.day_of(self.day, datetime.combine(today_of(facts), time()))
        wanted = rng.random() < 0.5
        for _ in range(MAX_SEEDS):
            seed = rng.randrange(10**6)
            facts.change(WeatherSettings, seed=seed)
            if (day_forecast(seed, self.city, on).condition == "Rain") is wanted:
                return

    def holds(self, view: View) -> bool:
        return weather.forecast_of(view, self.city, self.day).condition == "Rain"

    def moves(self, start: View) -> Iterable[Move]:
        return weather.open_day(start, self.city, self.day)


@dataclass(frozen=True)
class EventStartsEarly(Condition):
    app, steps = "Calendar", 2.5
    clauses = (
        '"{event}" in my calendar starts before noon',
        'my calendar has "{event}" in the morning',
    )
    event: str = parameter(EVENTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(CalendarEvent, lambda e: e.title == self.event)
        event = add_event(facts, rng, self.event)
        hour = rng.choice((8, 9, 10, 14, 16, 18))
        facts.edit(event, start=event.start.replace(hour=hour))

    def holds(self, view: View) -> bool:
        return event_called(view, self.event).start.hour < 12

    def moves(self, start: View) -> Iterable[Move]:
        return find(self.event)


@dataclass(frozen=True)
class PlaceWellRated(Condition):
    app, steps = "Maps", 3
    clauses = (
        "{place} has at least 4 stars in Maps",
        "people give {place} 4 stars or more in Maps",
    )
    place: str = parameter(SHOPS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        place = next(p for p in facts.all(Place) if p.name == self.place)
        facts.edit(place, rating=rng.choice((2.8, 3.3, 3.6, 4.2, 4.5, 4.8)))

    def holds(self, view: View) -> bool:
        return place_of(view, self.place).rating >= 4

    def moves(self, start: View) -> Iterable[Move]:
        return open_place(self.place)


@dataclass(frozen=True)
class CanAfford(Condition):
    app, steps = "Wallet", 0.5
    clauses = (
        "the balance in Wallet is above {limit}",
        "I have more than {limit} in my wallet",
    )
    limit: int = parameter(
        Domain("balances", (500_00, 800_00, 1000_00, 1200_00, 1500_00, 2000_00), say=plain_money)
    )

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        apart = rng.randrange(40_00, 400_00, 5)
        richer = rng.random() < 0.5
        facts.change(Account, balance_cents=self.limit + (apart if richer else -apart))
        facts.change(WalletSettings, hide_balance=False)

    def holds(self, view: View) -> bool:
        return view.one(Account).balance_cents > self.limit

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Reveal("Balance")


@dataclass(frozen=True)
class BillAbove(Condition):
    app, steps = "Wallet", 1
    clauses = (
        "the open bill from {payee} in Wallet is above {limit}",
        "{payee} wants more than {limit} from me, according to the bills in Wallet",
    )
    payee: str = parameter(COMPANIES)
    limit: int = parameter(AMOUNTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        bill = put_bill(facts, rng, self.payee)
        apart = rng.randrange(1_00, 6_00, 5)
        facts.edit(bill, cents=self.limit + (apart if rng.random() < 0.5 else -apart))

    def holds(self, view: View) -> bool:
        return bill_of(view, self.payee).cents > self.limit

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Bills")
        yield Reveal(self.payee)
