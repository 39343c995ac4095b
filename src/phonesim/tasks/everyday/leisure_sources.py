"""Sources whose values are read in Feed and Food."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from phonesim.contents.everyday.meals import RESTAURANTS, FoodOrder, dish_cents
from phonesim.contents.people import Contact
from phonesim.facts import Facts
from phonesim.tasks.domains import parameter
from phonesim.tasks.everyday.everyday_sources import DISHES, KITCHEN_OF, KITCHENS, POSTS
from phonesim.tasks.everyday.parts import Cents, Gives, Source, Value
from phonesim.tasks.everyday.put import (
    open_post,
    post_saying,
    put_post,
)
from phonesim.tasks.moves import Fill, Move, Open, Press, Reveal
from phonesim.tasks.template import View


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
