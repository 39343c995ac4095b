"""Tasks in the app Travel."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from phonesim.apps.everyday.travel_booking import ORDERS, times
from phonesim.apps.everyday.travel_trips import event_of, ticket_of
from phonesim.contents.calendar_events import CalendarEvent
from phonesim.contents.everyday.journeys import (
    CANCELLATION_CENTS,
    Connection,
    Traveller,
    TravelSettings,
    Trip,
    WatchedRoute,
    connections,
)
from phonesim.contents.everyday.money import Account, Ticket, Transfer, money
from phonesim.facts import Facts
from phonesim.system import SystemSettings
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.everyday.errand import Errand
from phonesim.tasks.everyday.everyday_sources import CITIES
from phonesim.tasks.everyday.put import (
    not_from,
    not_paid,
    open_trip,
    put_trip,
    running,
    search_trips,
    trip_to,
)
from phonesim.tasks.general.days import DAYS, SaidDay
from phonesim.tasks.general.differences import only_added, only_changed
from phonesim.tasks.general.people import NAMES
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import Template, View, added

ALERTS = Domain(
    "travel switches",
    (
        ("price_alerts", "Price alerts"), ("quiet_coach", "Prefer quiet coaches"),
        ("green_first", "Greenest first"), ("newsletter", "Newsletter"),
    ),
    say=lambda pair: pair[1],
)  # fmt: skip


@dataclass(frozen=True)
class BookCheapest(Errand):
    name = "travel.book_cheapest"
    apps: ClassVar[tuple[str, ...]] = ("Travel",)
    difficulty = "long"
    high_stakes = True
    phrasings = (
        "Book the cheapest trip to {city} {when} in Travel",
        "Get me to {city} {when} as cheaply as possible. Book it with Travel",
        "In Travel, find what costs least to {city} {when}, and book it",
    )
    touches: ClassVar[tuple[type[Any], ...]] = (Trip, Account, Transfer)
    order: ClassVar[str] = "Cheapest"
    city: str = parameter(CITIES)
    day: SaidDay = parameter(DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "when": self.day.when}

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        not_from(facts, self.city)

    def _best(self, view: View) -> Connection:
        key: Callable[[Connection], float] = ORDERS[self.order]
        return min(running(view, self.city, self.day), key=key)

    def missing(self, start: View, end: View) -> str | None:
        best = self._best(start)
        wrong = only_added(
            start, end, Trip, origin=best.origin, destination=best.destination,
            depart=best.depart, cents=best.cents, traveller="Me", cancelled=False,
        )  # fmt: skip
        return wrong or not_paid(start, end, best.operator, best.cents)

    def solve(self, start: View) -> Iterable[Move]:
        price = money(self._best(start).cents)
        yield from search_trips(start, self.city, self.day)
        if self.order != "Earliest":
            yield Press("Earliest", role="button")
            yield Press(self.order, role="row")
        yield Press(price, role="row")
        yield Press("Book")
        yield Press(f"Pay {price}")


@dataclass(frozen=True)
class BookFastest(BookCheapest):
    name = "travel.book_fastest"
    phrasings = (
        "Book the fastest trip to {city} {when} in Travel",
        "I want to be in {city} {when} with as little time on the way as possible. Book that",
        "In Travel, find the quickest connection to {city} {when}, and book it",
    )
    order = "Fastest"


@dataclass(frozen=True)
class CancelTrip(Errand):
    name = "travel.cancel"
    apps = ("Travel",)
    difficulty = "medium"
    high_stakes = True
    phrasings = (
        "Cancel my trip to {city} in Travel",
        "I am not going to {city} after all. Cancel that trip, and no other",
        "Call off the journey to {city} that I booked in Travel",
    )
    touches = (Trip, Account, Transfer)
    city: str = parameter(CITIES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_trip(facts, rng, self.city)

    def missing(self, start: View, end: View) -> str | None:
        trip = trip_to(start, self.city)
        wrong = only_changed(start, end, Trip, trip.id, cancelled=True)
        return wrong or not_paid(start, end, trip.operator, CANCELLATION_CENTS - trip.cents)

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_trip(start, self.city)
        yield Press("Cancel trip")
        yield Press("Cancel it")


@dataclass(frozen=True)
class KeepTicket(Errand):
    name = "travel.to_wallet"
    apps: ClassVar[tuple[str, ...]] = ("Travel", "Wallet")
    difficulty = "medium"
    phrasings = (
        "Put the ticket for my trip to {city} into Wallet",
        "I want the ticket to {city} in my wallet. It is among my trips in Travel",
        "Add my journey to {city} from Travel to Wallet",
    )
    touches: ClassVar[tuple[type[Any], ...]] = (Ticket,)
    city: str = parameter(CITIES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_trip(facts, rng, self.city)

    def missing(self, start: View, end: View) -> str | None:
        ticket = ticket_of(trip_to(start, self.city))
        return only_added(start, end, Ticket, title=ticket.title, code=ticket.code)

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_trip(start, self.city)
        yield Press("Add to Wallet")


@dataclass(frozen=True)
class KeepDate(KeepTicket):
    name = "travel.to_calendar"
    apps = ("Travel", "Calendar")
    phrasings = (
        "Put my trip to {city} from Travel into the calendar",
        "My journey to {city} should be in Calendar. Add it from Travel",
        "Let Travel add the trip to {city} to my calendar",
    )
    touches = (CalendarEvent,)

    def missing(self, start: View, end: View) -> str | None:
        event = event_of(trip_to(start, self.city))
        return only_added(start, end, CalendarEvent, title=event.title, start=event.start)

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_trip(start, self.city)
        yield Press("Add to Calendar")


@dataclass(frozen=True)
class BookAndKeep(BookCheapest):
    name = "travel.book_and_keep"
    apps = ("Travel", "Wallet", "Calendar")
    difficulty = "long"
    phrasings = (
        "Book the cheapest trip to {city} {when} in Travel, then add it to Wallet and Calendar",
        "Get me the cheapest ticket to {city} {when}, and put it into my wallet and my calendar",
        "In Travel, book what costs least to {city} {when}; keep it in Wallet and in Calendar",
    )
    touches = (Trip, Account, Transfer, Ticket, CalendarEvent)

    def missing(self, start: View, end: View) -> str | None:
        wrong = super().missing(start, end)
        if wrong:
            return wrong
        [trip] = added(start, end, Trip)
        wrong = only_added(start, end, Ticket, code=trip.code)
        event = event_of(trip)
        return wrong or only_added(start, end, CalendarEvent, title=event.title, start=event.start)

    def solve(self, start: View) -> Iterable[Move]:
        yield from super().solve(start)
        yield Press("Show trip")
        yield Press("Add to Wallet")
        yield Press("Add to Calendar")


@dataclass(frozen=True)
class ChangeTrip(Errand):
    name = "travel.change"
    apps = ("Travel",)
    difficulty = "medium"
    high_stakes = True
    phrasings = (
        "Change my trip to {city} in Travel to the first departure of that day",
        "I want to leave for {city} as early as possible on the day I booked. Change the trip",
        "Move my journey to {city} to the earliest time of the same day",
    )
    touches = (Trip, Account, Transfer)
    city: str = parameter(CITIES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        trip = put_trip(facts, rng, self.city)
        first = self._first(trip, facts.one(TravelSettings).seed)
        if trip.depart == first.depart:  # then make the last departure the booked one
            last = _that_day(trip, facts.one(TravelSettings).seed)[-1]
            facts.edit(
                trip, depart=last.depart, arrive=last.arrive, operator=last.operator,
                cents=last.cents,
            )  # fmt: skip

    def _first(self, trip: Trip, seed: int) -> Connection:
        return _that_day(trip, seed)[0]

    def missing(self, start: View, end: View) -> str | None:
        trip = trip_to(start, self.city)
        first = self._first(trip, start.one(TravelSettings).seed)
        wanted = {"depart": first.depart, "arrive": first.arrive, "operator": first.operator}
        wrong = only_changed(start, end, Trip, trip.id, **wanted)
        extra = first.cents - trip.cents
        if wrong or extra > 0:
            return wrong or not_paid(start, end, first.operator, extra)
        same = start.all(Transfer) == end.all(Transfer) and start.one(Account) == end.one(Account)
        return None if same else "money was moved, but the change costs nothing"

    def solve(self, start: View) -> Iterable[Move]:
        trip = trip_to(start, self.city)
        yield from open_trip(start, self.city)
        yield Press("Change")
        first = self._first(trip, start.one(TravelSettings).seed)
        yield Press(times(first, start.one(SystemSettings).use_24_hour), role="row")
        yield Press("Change trip")


def _that_day(trip: Trip, seed: int) -> tuple[Connection, ...]:
    return connections(seed, trip.origin, trip.destination, trip.depart.date())


@dataclass(frozen=True)
class WatchRoute(Errand):
    name = "travel.watch"
    apps = ("Travel",)
    difficulty = "medium"
    phrasings = (
        "Watch the prices of trips to {city} in Travel",
        "Let Travel keep an eye on the route to {city}",
        "I want to know when tickets to {city} get cheaper. Watch that route in Travel",
    )
    touches = (WatchedRoute,)
    city: str = parameter(CITIES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        not_from(facts, self.city)
        facts.remove_where(WatchedRoute, lambda route: route.destination == self.city)

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, WatchedRoute, destination=self.city)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Travel")
        yield Fill("To", self.city)
        yield Press("Search trips")
        yield Press("Watch this route")


@dataclass(frozen=True)
class AddTraveller(Errand):
    name = "travel.add_traveller"
    apps = ("Travel",)
    difficulty = "hard"
    phrasings = (
        "Add {person} to the travellers in Travel",
        "I want to book for {person}, too. Put them on the list of travellers in Travel",
        "Make {person} a traveller in Travel, at full fare",
    )
    touches = (Traveller,)
    person: str = parameter(NAMES)

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, Traveller, name=self.person, discount_card=False)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Travel")
        yield Press("More options")
        yield Press("Travellers")
        yield Press("Add traveller")
        yield Fill("Full name", self.person)
        yield Press("Save", role="button")


@dataclass(frozen=True)
class SwitchAlert(Errand):
    name = "travel.switch_on"
    apps = ("Travel",)
    difficulty = "medium"
    phrasings = (
        'Switch on "{alert}" in the settings of Travel',
        'In Travel, turn "{alert}" on',
        'The setting "{alert}" of the Travel app should be on',
    )
    touches = (TravelSettings,)
    alert: tuple[str, str] = parameter(ALERTS)

    def missing(self, start: View, end: View) -> str | None:
        settings = start.one(TravelSettings).id
        return only_changed(start, end, TravelSettings, settings, **{self.alert[0]: True})

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Travel")
        yield Press("More options")
        yield Press("Travel settings")
        yield Press(self.alert[1], role="row")


TEMPLATES: tuple[type[Template], ...] = (
    BookCheapest, BookFastest, CancelTrip, KeepTicket, KeepDate, BookAndKeep, ChangeTrip,
    WatchRoute, AddTraveller, SwitchAlert,
)  # fmt: skip
