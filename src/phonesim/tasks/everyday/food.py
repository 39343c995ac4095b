"""Tasks in the app Food."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from phonesim.apps.everyday.food import SWITCHES
from phonesim.contents.everyday.meals import (
    COMPLAINTS,
    FEE_CENTS,
    RESTAURANT_OF,
    TIPS,
    BasketLine,
    Complaint,
    FavouriteRestaurant,
    FoodAddress,
    FoodOrder,
    FoodSettings,
    dish_cents,
)
from phonesim.contents.everyday.money import Account, Transfer, money
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.everyday.errand import Errand
from phonesim.tasks.everyday.everyday_sources import DISHES, KITCHEN_OF, KITCHENS
from phonesim.tasks.everyday.put import not_paid
from phonesim.tasks.general.differences import only_added, only_changed, only_removed
from phonesim.tasks.moves import Fill, GoBack, Move, Open, Press
from phonesim.tasks.template import Template, View

COUNTS = Domain("portions", (1, 2, 3, 4), say=lambda count: f"{count} ×")
TIP_AMOUNTS = Domain("tips", (*TIPS[1:], 10_00), say=money)
REASONS = Domain("complaints", COMPLAINTS)
DETAILS = Domain(
    "details of complaints",
    ("The soup was spilt", "Nobody rang", "The bag was open", "I waited for two hours",
     "The fries were soft", "There was no bread"),
)  # fmt: skip
STREETS = Domain(
    "streets for meals",
    ("12 Abbey Street", "4 Clover Street", "31 Foundry Street", "9 Brewer Street",
     "27 Harbour Street", "15 Meadow Street"),
)  # fmt: skip
SETTINGS = Domain(
    "food switches",
    tuple(SWITCHES.items()),
    say=lambda pair: pair[1],
)


def put_order(facts: Facts, rng: random.Random, kitchen: str) -> FoodOrder:
    """Add an order from that restaurant, newer than all others; remove its older orders."""
    facts.remove_where(FoodOrder, lambda order: order.restaurant == kitchen)
    newest = max(order.time for order in facts.all(FoodOrder))
    dishes = tuple(dish.name for dish in RESTAURANT_OF[kitchen].dishes[:2])
    cents = sum(dish_cents(kitchen, dish) for dish in dishes) + FEE_CENTS
    time = newest + timedelta(minutes=rng.randrange(5, 50))
    return facts.add(FoodOrder(0, kitchen, dishes, cents, "Home", time))


def order_from(view: View, kitchen: str) -> FoodOrder:
    return next(order for order in view.all(FoodOrder) if order.restaurant == kitchen)


def open_order(kitchen: str) -> Iterable[Move]:
    yield Open("Food")
    yield Press("More options")
    yield Press("My orders")
    yield Press(kitchen, role="row")


def take_dish(dish: str, count: int) -> Iterable[Move]:
    """Yield the moves from anywhere to a basket with `count` of the dish."""
    yield Open("Food")
    yield Press("Search", role="button")
    yield Fill("Search dishes", dish)
    yield Press(dish, role="row", detail=KITCHEN_OF[dish])
    for _ in range(count - 1):
        yield Press("More")
    yield Press("Add to basket")


@dataclass(frozen=True)
class FillBasket(Errand):
    name = "food.basket"
    apps = ("Food",)
    difficulty = "hard"
    phrasings = (
        "Put {count} {dish} into the basket in Food, but do not order yet",
        "Add {dish} to my basket in Food, {count} of it, without ordering",
        "My basket in Food should hold {count} {dish}. Nothing is to be ordered",
    )
    touches = (BasketLine,)
    dish: str = parameter(DISHES)
    count: int = parameter(COUNTS)

    def missing(self, start: View, end: View) -> str | None:
        kitchen = KITCHEN_OF[self.dish]
        wanted = {"restaurant": kitchen, "dish": self.dish, "count": self.count}
        return only_added(start, end, BasketLine, **wanted)

    def solve(self, start: View) -> Iterable[Move]:
        return take_dish(self.dish, self.count)


@dataclass(frozen=True)
class OrderDish(Errand):
    name = "food.order"
    apps = ("Food",)
    difficulty = "hard"
    high_stakes = True
    phrasings = (
        "Order {count} {dish} in Food",
        "I am hungry. Have {count} {dish} brought home with Food",
        "Use Food to order {dish}, {count} of it, and nothing else",
    )
    touches = (FoodOrder, Account, Transfer)
    dish: str = parameter(DISHES)
    count: int = parameter(COUNTS)

    def missing(self, start: View, end: View) -> str | None:
        kitchen = KITCHEN_OF[self.dish]
        cents = dish_cents(kitchen, self.dish) * self.count + FEE_CENTS
        dishes = (self.dish,) * self.count
        wanted = {"restaurant": kitchen, "dishes": dishes, "cents": cents, "address": "Home"}
        return only_added(start, end, FoodOrder, **wanted) or not_paid(start, end, kitchen, cents)

    def solve(self, start: View) -> Iterable[Move]:
        yield from take_dish(self.dish, self.count)
        yield from _open_basket()
        yield Press("Checkout")
        yield Press("Place order")


def _open_basket() -> Iterable[Move]:
    """Yield the moves from search results back to the first page and to the basket."""
    yield GoBack()
    yield Press("Basket", role="button")


@dataclass(frozen=True)
class TipRider(Errand):
    name = "food.tip"
    apps = ("Food",)
    difficulty = "medium"
    high_stakes = True
    phrasings = (
        "Give the rider who brought my last order from {kitchen} a tip of {tip} in Food",
        "Tip {tip} for the order from {kitchen} in Food",
        "The rider from {kitchen} was quick. Add a tip of {tip} to that order in Food",
    )
    touches = (FoodOrder, Account, Transfer)
    kitchen: str = parameter(KITCHENS)
    tip: int = parameter(TIP_AMOUNTS)

    def sensible(self) -> bool:
        return self.tip in TIPS

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_order(facts, rng, self.kitchen)

    def missing(self, start: View, end: View) -> str | None:
        order = order_from(start, self.kitchen)
        wrong = only_changed(start, end, FoodOrder, order.id, tip_cents=self.tip)
        return wrong or not_paid(start, end, self.kitchen, self.tip)

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_order(self.kitchen)
        yield Press("Give a tip")
        yield Press(money(self.tip), role="row")


@dataclass(frozen=True)
class ComplainAbout(Errand):
    name = "food.complain"
    apps = ("Food",)
    difficulty = "hard"
    phrasings = (
        'Complain in Food about my order from {kitchen}: "{reason}", and write "{detail}"',
        'My order from {kitchen} was bad. In Food, complain: {reason}. Say "{detail}"',
        'Send a complaint about the {kitchen} order in Food. Reason: {reason}. Text: "{detail}"',
    )
    touches = (Complaint,)
    kitchen: str = parameter(KITCHENS)
    reason: str = parameter(REASONS)
    detail: str = parameter(DETAILS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_order(facts, rng, self.kitchen)

    def missing(self, start: View, end: View) -> str | None:
        order = order_from(start, self.kitchen).id
        wanted = {"order": order, "reason": self.reason, "text": self.detail}
        return only_added(start, end, Complaint, **wanted)

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_order(self.kitchen)
        yield Press("Complain")
        yield Press(self.reason, role="row")
        yield Fill("Tell us more", self.detail)
        yield Press("Send complaint")


@dataclass(frozen=True)
class RateOrder(Errand):
    name = "food.rate"
    apps = ("Food",)
    difficulty = "medium"
    phrasings = (
        "Give my last order from {kitchen} {stars} in Food",
        "Rate the order from {kitchen} in Food with {stars}",
        "The meal from {kitchen} deserves {stars}. Rate it in Food",
    )
    touches = (FoodOrder,)
    kitchen: str = parameter(KITCHENS)
    stars: int = parameter(
        Domain("stars", (1, 2, 3, 4, 5), say=lambda stars: f"{stars} star{'s' * (stars > 1)}")
    )

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_order(facts, rng, self.kitchen)

    def missing(self, start: View, end: View) -> str | None:
        order = order_from(start, self.kitchen)
        return only_changed(start, end, FoodOrder, order.id, stars=self.stars)

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_order(self.kitchen)
        yield Press("Rate")
        yield Press(f"{self.stars} star{'s' * (self.stars > 1)}", role="row")


@dataclass(frozen=True)
class AddAddress(Errand):
    name = "food.add_address"
    apps = ("Food",)
    difficulty = "hard"
    phrasings = (
        'Add the address {street} to Food under the name "{label}"',
        'In Food, save {street} as "{label}"',
        'Meals should also come to {street}. Add it in Food, and call it "{label}"',
    )
    touches = (FoodAddress,)
    street: str = parameter(STREETS)
    label: str = parameter(
        Domain("names of addresses", ("Studio", "Grandma", "Garage", "Boat", "Workshop", "Club"))
    )

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, FoodAddress, label=self.label, street=self.street)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Food")
        yield Press("More options")
        yield Press("Addresses")
        yield Press("New address")
        yield Fill("Name of the place", self.label)
        yield Fill("Street and number", self.street)
        yield Press("Save", role="button")


@dataclass(frozen=True)
class LikeRestaurant(Errand):
    name = "food.favourite"
    apps = ("Food",)
    difficulty = "medium"
    phrasings = (
        "Make {kitchen} a favourite in Food",
        "Add {kitchen} to my favourites in Food",
        "I like {kitchen} best. Give it a heart in Food",
    )
    touches = (FavouriteRestaurant,)
    kitchen: str = parameter(KITCHENS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(FavouriteRestaurant, lambda each: each.name == self.kitchen)

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, FavouriteRestaurant, name=self.kitchen)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Food")
        yield Press(self.kitchen)
        yield Press("Add to favourites")


@dataclass(frozen=True)
class EmptyBasket(Errand):
    name = "food.remove_dish"
    apps = ("Food",)
    difficulty = "medium"
    phrasings = (
        "Take {dish} out of my basket in Food",
        "Remove {dish} from the basket in Food, and nothing else",
        "I do not want {dish} any more. Delete it from my basket in Food",
    )
    touches = (BasketLine,)
    dish: str = parameter(DISHES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        kitchen = KITCHEN_OF[self.dish]
        names = [d.name for d in RESTAURANT_OF[kitchen].dishes if d.name != self.dish]
        facts.remove_where(BasketLine, lambda line: True)
        for name in (self.dish, *names[:2]):
            facts.add(BasketLine(0, kitchen, name, rng.randrange(1, 4)))

    def missing(self, start: View, end: View) -> str | None:
        line = next(each for each in start.all(BasketLine) if each.dish == self.dish)
        return only_removed(start, end, BasketLine, line.id)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Food")
        yield Press("Basket", role="button")
        yield Press(f"Remove {self.dish}")


@dataclass(frozen=True)
class SwitchSetting(Errand):
    name = "food.switch"
    apps = ("Food",)
    difficulty = "medium"
    phrasings = (
        'Flip the setting "{setting}" in Food',
        'In the settings of Food, change "{setting}" to the opposite',
        'Toggle "{setting}" in the Food app',
    )
    touches = (FoodSettings,)
    setting: tuple[str, str] = parameter(SETTINGS)

    def missing(self, start: View, end: View) -> str | None:
        settings, field = start.one(FoodSettings), self.setting[0]
        wanted = {field: not getattr(settings, field)}
        return only_changed(start, end, FoodSettings, settings.id, **wanted)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Food")
        yield Press("More options")
        yield Press("Food settings")
        yield Press(self.setting[1], role="row")


TEMPLATES: tuple[type[Template], ...] = (
    FillBasket, OrderDish, TipRider, ComplainAbout, RateOrder, AddAddress, LikeRestaurant,
    EmptyBasket, SwitchSetting,
)  # fmt: skip
