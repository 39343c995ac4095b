"""Sources whose value is found by comparing: the cheaper dish, bigger bill or cheaper city."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from phonesim.contents.everyday.meals import dish_cents
from phonesim.contents.everyday.money import (
    Bill,
)
from phonesim.facts import Facts
from phonesim.tasks.domains import parameter
from phonesim.tasks.everyday.everyday_sources import CITIES, DISHES, KITCHEN_OF
from phonesim.tasks.everyday.parts import Gives, Source, Value
from phonesim.tasks.everyday.put import (
    COMPANIES,
    bill_of,
    not_from,
    put_bill,
    running,
    search_trips,
)
from phonesim.tasks.general.days import DAYS, SaidDay
from phonesim.tasks.moves import Fill, GoBack, Move, Open, Press, Reveal
from phonesim.tasks.template import View


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
