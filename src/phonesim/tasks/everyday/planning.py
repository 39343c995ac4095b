"""Acts that plan with a value: alarms, calendar events, trips, cities to look at."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, time

from phonesim.apps.weather import SavedCity
from phonesim.contents.calendar_events import CalendarEvent, at
from phonesim.contents.everyday.journeys import Trip, WatchedRoute
from phonesim.contents.everyday.money import (
    Account,
    Transfer,
    money,
)
from phonesim.contents.timepieces import Alarm
from phonesim.facts import Facts
from phonesim.tasks.domains import parameter
from phonesim.tasks.everyday.parts import Act, Value
from phonesim.tasks.everyday.put import (
    not_paid,
    running,
    search_trips,
)
from phonesim.tasks.general.alarms import choose_time as choose_alarm_time
from phonesim.tasks.general.alarms import new_alarm_missing
from phonesim.tasks.general.calendar import EVENTS, TIMES, choose_time
from phonesim.tasks.general.days import DAYS, SaidDay, pick
from phonesim.tasks.general.differences import only_added
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import View

TOMORROW = SaidDay("tomorrow", days=1)


@dataclass(frozen=True)
class WakeAtIt(Act):
    app, steps, takes = "Clock", 4, ("time",)
    orders = ("set an alarm for {it}", "let an alarm ring at {it}")
    touches = (Alarm,)

    def _time(self, value: Value) -> tuple[int, int]:
        assert isinstance(value, time)
        return value.hour, value.minute

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        for alarm in facts.all(Alarm)[3:]:
            facts.remove(alarm)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return new_alarm_missing(start, end, self._time(value), "", ())

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Clock")
        yield Press("Add alarm")
        yield from choose_alarm_time(start, self._time(value))
        yield Press("Save", role="button")


@dataclass(frozen=True)
class PlanAtIt(Act):
    app, steps, takes = "Calendar", 9, ("time",)
    orders = (
        'put "{occasion}" into my calendar {when} at {it}',
        'add "{occasion}" to Calendar for {planned_day} at {it}',
    )
    touches = (CalendarEvent,)
    occasion: str = parameter(EVENTS)
    planned_day: SaidDay = parameter(DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "when": self.planned_day.when}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(CalendarEvent, lambda event: event.title == self.occasion)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        assert isinstance(value, time)
        day = self.planned_day.after(start.now.date())
        wanted = at(day, value.hour, value.minute)
        return only_added(start, end, CalendarEvent, title=self.occasion, start=wanted)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        assert isinstance(value, time)
        today = start.now.date()
        yield Open("Calendar")
        yield Press("New event")
        yield Fill("Title", self.occasion)
        yield Press("Day")
        yield from pick(self.planned_day.after(today), today)
        yield from choose_time(start, value)
        yield Press("Save", role="button")


@dataclass(frozen=True)
class PlanOnIt(Act):
    app, steps, takes = "Calendar", 9, ("day",)
    orders = (
        'put "{occasion}" into my calendar for {it} at {moment}',
        'add "{occasion}" to Calendar on {it}, {moment}',
    )
    touches = (CalendarEvent,)
    occasion: str = parameter(EVENTS)
    moment: time = parameter(TIMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(CalendarEvent, lambda event: event.title == self.occasion)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        assert isinstance(value, date)
        wanted = at(value, self.moment.hour, self.moment.minute)
        return only_added(start, end, CalendarEvent, title=self.occasion, start=wanted)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        assert isinstance(value, date)
        yield Open("Calendar")
        yield Press("New event")
        yield Fill("Title", self.occasion)
        yield Press("Day")
        yield from pick(value, start.now.date())
        yield from choose_time(start, self.moment)
        yield Press("Save", role="button")


@dataclass(frozen=True)
class BookThere(Act):
    app, steps, takes = "Travel", 10, ("city",)
    orders = (
        "book the cheapest trip to {it} {trip_when} in Travel",
        "get me the cheapest ticket to {it} {trip_when} with Travel",
    )
    touches = (Trip, Transfer, Account)
    high_stakes = True
    trip_day: SaidDay = parameter(DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "trip_when": self.trip_day.when}

    def missing(self, start: View, end: View, value: Value) -> str | None:
        best = min(running(start, str(value), self.trip_day), key=lambda each: each.cents)
        wrong = only_added(
            start, end, Trip, origin=best.origin, destination=best.destination,
            depart=best.depart, cents=best.cents, traveller="Me", cancelled=False,
        )  # fmt: skip
        return wrong or not_paid(start, end, best.operator, best.cents)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        best = min(running(start, str(value), self.trip_day), key=lambda each: each.cents)
        yield from search_trips(start, str(value), self.trip_day)
        yield Press("Earliest", role="button")
        yield Press("Cheapest", role="row")
        yield Press(money(best.cents), role="row")
        yield Press("Book")
        yield Press(f"Pay {money(best.cents)}")


@dataclass(frozen=True)
class BookTomorrow(Act):
    app, steps, takes = "Travel", 6, ("city",)
    orders = (
        "book the first trip of tomorrow to {it} in Travel",
        "get me a ticket for tomorrow's first trip to {it} with Travel",
    )
    touches = (Trip, Transfer, Account)
    high_stakes = True

    def missing(self, start: View, end: View, value: Value) -> str | None:
        first = running(start, str(value), TOMORROW)[0]
        wrong = only_added(
            start, end, Trip, origin=first.origin, destination=first.destination,
            depart=first.depart, cents=first.cents, traveller="Me", cancelled=False,
        )  # fmt: skip
        return wrong or not_paid(start, end, first.operator, first.cents)

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        """Book the first result: the results begin with the earliest departure."""
        first = running(start, str(value), TOMORROW)[0]
        yield from search_trips(start, str(value), TOMORROW)
        yield Press(money(first.cents), role="row")
        yield Press("Book")
        yield Press(f"Pay {money(first.cents)}")


@dataclass(frozen=True)
class WatchThere(Act):
    app, steps, takes = "Travel", 4, ("city",)
    orders = (
        "watch the prices of trips to {it} in Travel",
        "let Travel watch the route to {it}",
    )
    touches = (WatchedRoute,)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(WatchedRoute, lambda route: True)  # whichever city it will be

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return only_added(start, end, WatchedRoute, destination=str(value))

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Travel")
        yield Fill("To", str(value))
        yield Press("Search trips")
        yield Press("Watch this route")


@dataclass(frozen=True)
class AddWeatherThere(Act):
    app, steps, takes = "Weather", 4, ("city",)
    orders = (
        "add {it} to the cities in Weather",
        "put {it} on my list in the weather app",
    )
    touches = (SavedCity,)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(SavedCity, lambda city: True)

    def missing(self, start: View, end: View, value: Value) -> str | None:
        return only_added(start, end, SavedCity, name=str(value))

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        yield Open("Weather")
        yield Press("Add city")
        yield Fill("Search city", str(value))
        yield Press(str(value), "row")
