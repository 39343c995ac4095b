"""Sources whose values are read in Wallet, Travel and Chat, and domains of everyday tasks."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import time
from typing import ClassVar

from phonesim.contents.everyday.journeys import CITY_NAMES
from phonesim.contents.everyday.meals import RESTAURANTS
from phonesim.contents.everyday.money import (
    Ticket,
    Transfer,
    ticket_code,
)
from phonesim.contents.everyday.posts import WORDS
from phonesim.contents.everyday.threads import GROUPS, ChatMessage, ChatThread, thread_with
from phonesim.contents.people import Contact
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.everyday.parts import Cents, Gives, Source, Value
from phonesim.tasks.everyday.put import (
    COMPANIES,
    bill_of,
    chatted,
    not_from,
    open_trip,
    put_bill,
    put_trip,
    running,
    search_trips,
    trip_to,
)
from phonesim.tasks.everyday.sources import HOURS, MEETING_PLACES
from phonesim.tasks.general.days import DAYS, SaidDay
from phonesim.tasks.general.people import NAMES, known
from phonesim.tasks.moves import Fill, Move, Open, Press, Reveal
from phonesim.tasks.template import View

CITIES = Domain("travel cities", CITY_NAMES)
POSTS = Domain("posts", WORDS)
DISHES = Domain(
    "dishes", tuple(dish.name for place in RESTAURANTS if not place.closed for dish in place.dishes)
)
KITCHENS = Domain("restaurants", tuple(place.name for place in RESTAURANTS if not place.closed))
GROUP_NAMES = Domain("chat groups", GROUPS)
EVENTS_WITH_TICKETS = Domain(
    "ticketed events",
    ("Jazz night", "Planetarium", "Ice hockey", "Puppet theatre", "Light show", "Quiz finals"),
)
KITCHEN_OF = {dish.name: place.name for place in RESTAURANTS for dish in place.dishes}


@dataclass(frozen=True)
class BillAmount(Source):
    app, steps = "Wallet", 1.5
    gives: ClassVar[Gives] = "cents"
    nouns = (
        "the amount of the open bill from {payee} in Wallet",
        "the sum of {payee}'s bill in Wallet",
    )
    payee: str = parameter(COMPANIES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_bill(facts, rng, self.payee)

    def value(self, view: View) -> Value:
        return Cents(bill_of(view, self.payee).cents)

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Bills")
        yield Press(self.payee, role="row")


@dataclass(frozen=True)
class BillReference(BillAmount):
    gives = "words"
    nouns = (
        "the reference of the open bill from {payee} in Wallet",
        "the reference on {payee}'s bill in Wallet",
    )

    def value(self, view: View) -> Value:
        return bill_of(view, self.payee).reference


@dataclass(frozen=True)
class BillDue(BillAmount):
    gives = "day"
    nouns = (
        "the day on which the bill from {payee} in Wallet is due",
        "the due day of {payee}'s bill in Wallet",
    )

    def value(self, view: View) -> Value:
        return bill_of(view, self.payee).due


@dataclass(frozen=True)
class LastPayment(Source):
    app, steps = "Wallet", 3
    gives: ClassVar[Gives] = "cents"
    nouns = (
        "the amount that I last sent to {person} with Wallet",
        "my last payment to {person} in Wallet",
    )
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)
        facts.remove_where(Transfer, lambda t: t.person == self.person)
        newest = max(t.time for t in facts.all(Transfer))
        facts.add(Transfer(0, self.person, rng.randrange(5_00, 48_00, 10), "Thanks", newest))

    def value(self, view: View) -> Value:
        return Cents(next(t.cents for t in view.all(Transfer) if t.person == self.person))

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("All activity")
        yield Fill("Search activity", self.person)
        yield Press(self.person, role="row")


@dataclass(frozen=True)
class TicketCode(Source):
    app, steps = "Wallet", 2
    gives: ClassVar[Gives] = "words"
    nouns = (
        'the code of my ticket "{ticket}" in Wallet',
        'the code that Wallet has for the ticket "{ticket}"',
    )
    ticket: str = parameter(EVENTS_WITH_TICKETS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(Ticket, lambda ticket: ticket.title == self.ticket)
        day = facts.all(Ticket)[0].day
        facts.add(Ticket(0, self.ticket, "One seat", ticket_code(rng), day))

    def value(self, view: View) -> Value:
        return next(t.code for t in view.all(Ticket) if t.title == self.ticket)

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Tickets", role="button")
        yield Press(self.ticket, role="row")


@dataclass(frozen=True)
class TripCode(Source):
    app, steps = "Travel", 2
    gives: ClassVar[Gives] = "words"
    nouns = (
        "the booking code of my trip to {city} in Travel",
        "the code of the trip to {city} that I booked in Travel",
    )
    city: str = parameter(CITIES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_trip(facts, rng, self.city)

    def value(self, view: View) -> Value:
        return trip_to(view, self.city).code

    def moves(self, start: View) -> Iterable[Move]:
        return open_trip(start, self.city)


@dataclass(frozen=True)
class TripSeat(TripCode):
    nouns = (
        "my seat on the trip to {city} in Travel",
        "the seat that Travel booked for me to {city}",
    )

    def value(self, view: View) -> Value:
        return trip_to(view, self.city).seat


@dataclass(frozen=True)
class TripDeparture(TripCode):
    gives = "time"
    nouns = (
        "the time at which my trip to {city} starts according to Travel",
        "the departure time of my trip to {city} in Travel",
    )

    def value(self, view: View) -> Value:
        return trip_to(view, self.city).depart.time()


@dataclass(frozen=True)
class TripDay(TripCode):
    gives = "day"
    nouns = (
        "the day of my trip to {city} in Travel",
        "the date of my trip to {city} according to Travel",
    )

    def value(self, view: View) -> Value:
        return trip_to(view, self.city).depart.date()


@dataclass(frozen=True)
class CheapestFare(Source):
    app, steps = "Travel", 7
    gives: ClassVar[Gives] = "cents"
    nouns = (
        "the price of the cheapest trip to {city} {when} in Travel",
        "the lowest fare to {city} {when} in Travel",
    )
    city: str = parameter(CITIES)
    day: SaidDay = parameter(DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "when": self.day.when}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        not_from(facts, self.city)

    def value(self, view: View) -> Value:
        return Cents(min(each.cents for each in running(view, self.city, self.day)))

    def moves(self, start: View) -> Iterable[Move]:
        yield from search_trips(start, self.city, self.day)
        yield Press("Earliest", role="button")
        yield Press("Cheapest", role="row")


@dataclass(frozen=True)
class ChatPlace(Source):
    app, steps = "Chat", 1
    gives: ClassVar[Gives] = "words"
    nouns = (
        "the meeting place from {friend}'s message in Chat",
        "the meeting place that {friend} proposed in Chat",
    )
    friend: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        chatted(facts, rng, self.friend, f"Shall we meet at {rng.choice(MEETING_PLACES.train)}?")

    def said(self, view: View) -> str:
        thread = thread_with(view.facts, self.friend)
        assert thread is not None
        theirs = [m for m in view.all(ChatMessage) if m.thread == thread.id and m.text]
        return max(theirs, key=lambda message: (message.time, message.id)).text

    def value(self, view: View) -> Value:
        return self.said(view).removeprefix("Shall we meet at ").rstrip("?")

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Chat")
        yield Press(self.friend, role="row")


@dataclass(frozen=True)
class ChatTime(ChatPlace):
    gives = "time"
    nouns = (
        "the time that {friend} proposed in Chat",
        "the time in {friend}'s last message in Chat",
    )

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        chatted(facts, rng, self.friend, f"Would this suit you: {rng.choice(HOURS):%H:%M}")

    def value(self, view: View) -> Value:
        return time.fromisoformat(self.said(view).split()[-1])


@dataclass(frozen=True)
class ChatDebt(ChatPlace):
    gives = "cents"
    nouns = (
        "the amount that {friend} asked me for in Chat",
        "my share according to {friend}'s message in Chat",
    )

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        typed = Cents(rng.randrange(5_00, 48_00, 10)).typed
        chatted(facts, rng, self.friend, f"Your share comes to {typed}")

    def value(self, view: View) -> Value:
        return Cents(round(float(self.said(view).split()[-1]) * 100))


@dataclass(frozen=True)
class ChatCity(ChatPlace):
    gives = "city"
    nouns = (
        "the city that {friend} suggested in Chat",
        "the city from {friend}'s message in Chat",
    )

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        home = rng.choice(CITIES.train)
        not_from(facts, home)
        chatted(facts, rng, self.friend, f"How about a weekend in {home}")

    def value(self, view: View) -> Value:
        return self.said(view).removeprefix("How about a weekend in ")


@dataclass(frozen=True)
class GroupSize(Source):
    app, steps = "Chat", 3
    gives: ClassVar[Gives] = "number"
    nouns = (
        'the number of members of the Chat group "{group}"',
        'the size of the Chat group "{group}" according to its info page',
    )
    group: str = parameter(GROUP_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(ChatThread, lambda thread: thread.title == self.group)
        people = [contact.name for contact in facts.all(Contact)]
        members = tuple(rng.sample(people, rng.randrange(3, 8)))
        thread = facts.add(ChatThread(title=self.group, members=members, group=True))
        newest = max(message.time for message in facts.all(ChatMessage))
        facts.add(ChatMessage(0, thread.id, members[0], "Hello everybody", newest))

    def value(self, view: View) -> Value:
        return len(next(t for t in view.all(ChatThread) if t.title == self.group).members) + 1

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Chat")
        yield Press(self.group, role="row")
        yield Press("Chat info")
        yield Reveal(f"{self.value(start)} members")
