"""Where values are read in the everyday apps: wallet, travel, chat, feed and food."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import time
from typing import ClassVar

from phonesim.contents.everyday.journeys import CITY_NAMES
from phonesim.contents.everyday.meals import RESTAURANTS, FoodOrder, dish_cents
from phonesim.contents.everyday.money import (
    Account,
    Bill,
    Ticket,
    Transfer,
    WalletSettings,
    money,
    ticket_code,
)
from phonesim.contents.everyday.posts import WORDS
from phonesim.contents.everyday.threads import GROUPS, ChatMessage, ChatThread, thread_with
from phonesim.contents.people import Contact
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.everyday.parts import Cents, Condition, Gives, Source, Value
from phonesim.tasks.everyday.put import (
    AMOUNTS,
    COMPANIES,
    bill_of,
    chatted,
    not_from,
    open_post,
    open_trip,
    post_saying,
    put_bill,
    put_post,
    put_trip,
    running,
    search_trips,
    trip_to,
)
from phonesim.tasks.everyday.sources import HOURS, MEETING_PLACES
from phonesim.tasks.general.days import DAYS, SaidDay
from phonesim.tasks.general.people import NAMES, known
from phonesim.tasks.moves import Fill, GoBack, Move, Open, Press, Reveal
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


# Wallet ------------------------------------------------------------------------------------------


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


# Travel ------------------------------------------------------------------------------------------


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


# Chat --------------------------------------------------------------------------------------------


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


# Feed --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PostLikes(Source):
    app, steps = "Feed", 5
    gives: ClassVar[Gives] = "number"
    nouns = (
        'the number of likes of the post "{post}" in Feed',
        'the like count of "{post}" in Feed',
    )
    post: str = parameter(POSTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_post(facts, rng, rng.choice(facts.all(Contact)).name, self.post)

    def value(self, view: View) -> Value:
        return post_saying(view, self.post).likes

    def moves(self, start: View) -> Iterable[Move]:
        return open_post(self.post)


@dataclass(frozen=True)
class PostAuthor(PostLikes):
    gives = "person"
    nouns = (
        'the person who posted "{post}" in Feed',
        'the author of the post "{post}" in Feed',
    )

    def value(self, view: View) -> Value:
        return post_saying(view, self.post).author


# Food --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DishPrice(Source):
    app, steps = "Food", 3
    gives: ClassVar[Gives] = "cents"
    nouns = ("the price of {dish} in Food", "the price that Food has for {dish}")
    dish: str = parameter(DISHES)

    def value(self, view: View) -> Value:
        return Cents(dish_cents(KITCHEN_OF[self.dish], self.dish))

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Food")
        yield Press("Search", role="button")
        yield Fill("Search dishes", self.dish)
        yield Reveal(self.dish)


@dataclass(frozen=True)
class OrderTotal(Source):
    app, steps = "Food", 3
    gives: ClassVar[Gives] = "cents"
    nouns = (
        "the price of my last order from {kitchen} in Food",
        "the total of my last {kitchen} order in Food",
    )
    kitchen: str = parameter(KITCHENS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(FoodOrder, lambda order: order.restaurant == self.kitchen)
        newest = max(order.time for order in facts.all(FoodOrder))
        dishes = next(place.dishes for place in RESTAURANTS if place.name == self.kitchen)
        names = tuple(dish.name for dish in dishes[:2])
        cents = rng.randrange(9_00, 48_00, 5)
        facts.add(FoodOrder(0, self.kitchen, names, cents, "Home", newest))

    def value(self, view: View) -> Value:
        return Cents(next(o.cents for o in view.all(FoodOrder) if o.restaurant == self.kitchen))

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Food")
        yield Press("More options")
        yield Press("My orders")
        yield Press(self.kitchen, role="row")


# Comparisons -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CheaperDish(Source):
    app, steps = "Food", 6
    gives: ClassVar[Gives] = "words"
    nouns = (
        "the cheaper one of {dish} and {other_dish} in Food",
        "whichever of {dish} and {other_dish} costs less in Food",
    )
    dish: str = parameter(DISHES)
    other_dish: str = parameter(DISHES)

    def sensible(self) -> bool:
        return self.dish != self.other_dish and self._cents(self.dish) != self._cents(
            self.other_dish
        )

    def _cents(self, dish: str) -> int:
        return dish_cents(KITCHEN_OF[dish], dish)

    def value(self, view: View) -> Value:
        return min((self.dish, self.other_dish), key=self._cents)

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Food")
        yield Press("Search", role="button")
        yield Fill("Search dishes", self.dish)
        yield Fill("Search dishes", self.other_dish)


@dataclass(frozen=True)
class BiggerBill(Source):
    app, steps = "Wallet", 1
    gives: ClassVar[Gives] = "company"
    nouns = (
        "the company with the bigger open bill in Wallet, {payee} or {rival}",
        "whichever of {payee} and {rival} has the bigger bill in Wallet",
    )
    payee: str = parameter(COMPANIES)
    rival: str = parameter(COMPANIES)

    def sensible(self) -> bool:
        return self.payee != self.rival

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        first = put_bill(facts, rng, self.payee)
        second = put_bill(facts, rng, self.rival)
        if first.cents == second.cents:
            facts.edit(facts.get(Bill, second.id), cents=second.cents + 5)

    def value(self, view: View) -> Value:
        return max((self.payee, self.rival), key=lambda name: bill_of(view, name).cents)

    def moves(self, start: View) -> Iterable[Move]:
        yield Open("Wallet")
        yield Press("Bills")
        yield Reveal(self.payee)
        yield Reveal(self.rival)


@dataclass(frozen=True)
class CheaperCity(Source):
    app, steps = "Travel", 9
    gives: ClassVar[Gives] = "city"
    nouns = (
        "the city that is cheaper to reach {when}, {city} or {other_city}, according to Travel",
        "whichever of {city} and {other_city} has the cheapest trip {when} in Travel",
    )
    city: str = parameter(CITIES)
    other_city: str = parameter(CITIES)
    day: SaidDay = parameter(DAYS)

    def words(self) -> dict[str, str]:
        return {**super().words(), "when": self.day.when}

    def sensible(self) -> bool:
        return self.city != self.other_city

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        not_from(facts, self.city)
        if self.other_city in ("Prague", "Vienna"):
            return
        not_from(facts, self.other_city)

    def value(self, view: View) -> Value:
        def least(city: str) -> int:
            return min((each.cents for each in running(view, city, self.day)), default=10**9)

        return min((self.city, self.other_city), key=least)

    def moves(self, start: View) -> Iterable[Move]:
        yield from search_trips(start, self.city, self.day)
        yield GoBack()
        yield Fill("To", self.other_city)
        yield Press("Search trips")


# Conditions --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CanAfford(Condition):
    app, steps = "Wallet", 0.5
    clauses = (
        "the balance in Wallet is above {limit}",
        "I have more than {limit} in my wallet",
    )
    limit: int = parameter(
        Domain("balances", (500_00, 800_00, 1000_00, 1200_00, 1500_00, 2000_00), say=money)
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
