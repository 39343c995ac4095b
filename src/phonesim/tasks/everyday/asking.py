"""Tasks that end with a list or a date, and one that cannot be done without asking the user."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.everyday.meals import RESTAURANT_OF, FoodOrder
from phonesim.contents.everyday.money import Account, Transfer
from phonesim.contents.everyday.threads import ChatMessage, ChatThread
from phonesim.contents.people import Contact
from phonesim.facts import Facts
from phonesim.tasks.domains import parameter
from phonesim.tasks.everyday.errand import Errand
from phonesim.tasks.everyday.everyday_sources import CITIES, GROUP_NAMES, KITCHENS
from phonesim.tasks.everyday.food import open_order, order_from, put_order
from phonesim.tasks.everyday.put import (
    AMOUNTS,
    not_paid,
    open_trip,
    put_trip,
    send_money,
    trip_to,
)
from phonesim.tasks.general.days import date_words
from phonesim.tasks.general.people import NAMES, known
from phonesim.tasks.moves import Ask, Move, Open, Press, Reveal, Say
from phonesim.tasks.structured_answers import states_date, states_list
from phonesim.tasks.template import Template, View


@dataclass(frozen=True)
class NameMembers(Errand):
    name = "chat.name_members"
    apps = ("Chat",)
    difficulty = "medium"
    phrasings = (
        'Who is in the Chat group "{group}" besides me? Name everybody',
        'List all other members of the group "{group}" in Chat',
        'Give me the names of everybody else in the Chat group "{group}"',
    )
    group: str = parameter(GROUP_NAMES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(ChatThread, lambda thread: thread.title == self.group)
        people = [contact.name for contact in facts.all(Contact)]
        members = tuple(rng.sample(people, rng.randrange(3, 6)))
        thread = facts.add(ChatThread(title=self.group, members=members, group=True))
        newest = max(message.time for message in facts.all(ChatMessage))
        facts.add(ChatMessage(0, thread.id, members[0], "Hello everybody", newest))

    def _members(self, view: View) -> tuple[str, ...]:
        return next(t for t in view.all(ChatThread) if t.title == self.group).members

    def missing(self, start: View, end: View) -> str | None:
        members = self._members(start)
        right = states_list(end.answer, members)
        return None if right else f"the members are {', '.join(members)}"

    def solve(self, start: View) -> Iterable[Move]:
        members = self._members(start)
        yield Open("Chat")
        yield Press(self.group, role="row")
        yield Press("Chat info")
        for name in members:
            yield Reveal(name)
        yield Say(", ".join(members))


@dataclass(frozen=True)
class NameDishes(Errand):
    name = "food.name_dishes"
    apps = ("Food",)
    difficulty = "medium"
    phrasings = (
        "Which dishes did I order last from {kitchen} in Food? Name all of them",
        "List everything that was in my last order from {kitchen} in Food",
        "What did I eat from {kitchen} last, according to Food? Give me every dish",
    )
    kitchen: str = parameter(KITCHENS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        order = put_order(facts, rng, self.kitchen)
        names = [dish.name for dish in RESTAURANT_OF[self.kitchen].dishes]
        facts.edit(order, dishes=tuple(rng.sample(names, rng.randrange(2, len(names) + 1))))

    def _order(self, view: View) -> FoodOrder:
        return order_from(view, self.kitchen)

    def missing(self, start: View, end: View) -> str | None:
        dishes = self._order(start).dishes
        return None if states_list(end.answer, dishes) else f"it was {', '.join(dishes)}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_order(self.kitchen)
        yield Say(", ".join(self._order(start).dishes))


@dataclass(frozen=True)
class AskTripDay(Errand):
    name = "travel.ask_day"
    apps = ("Travel",)
    difficulty = "medium"
    phrasings = (
        "On which day do I go to {city}, according to Travel? Answer with the date",
        "What is the date of my trip to {city} in Travel?",
        "Tell me the date on which my trip to {city} starts, as Travel has it",
    )
    city: str = parameter(CITIES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_trip(facts, rng, self.city)

    def missing(self, start: View, end: View) -> str | None:
        day = trip_to(start, self.city).depart.date()
        right = states_date(end.answer, day, start.now.date())
        return None if right else f"it is on {date_words(day)}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_trip(start, self.city)
        yield Say(date_words(trip_to(start, self.city).depart.date()))


@dataclass(frozen=True)
class SendAskedAmount(Errand):
    """The amount is neither in the instruction nor on the phone: the agent has to ask the user."""

    name = "wallet.send_asked"
    apps = ("Wallet",)
    difficulty = "hard"
    high_stakes = True
    phrasings = (
        "Send {person} with Wallet what I owe them. Ask me for the amount",
        "Pay {person} what they get from me with Wallet. I will tell you the amount when you ask",
        "I have to pay {person} back with Wallet. Ask me how much before you do",
    )
    touches = (Account, Transfer)
    person: str = parameter(NAMES)
    amount: int = parameter(AMOUNTS)

    def known_to_user(self) -> dict[str, str]:
        return {name: said for name, said in self.words().items() if name == "amount"}

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        return not_paid(start, end, self.person, self.amount)

    def solve(self, start: View) -> Iterable[Move]:
        yield Ask("How much is the amount?")
        yield from send_money(start, self.person, self.amount)


TEMPLATES: tuple[type[Template], ...] = (NameMembers, NameDishes, AskTripDay, SendAskedAmount)
