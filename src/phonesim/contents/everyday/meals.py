"""Meals to order: restaurants and their dishes, the same on every phone, and orders."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from phonesim.contents.timestamps import LONG_AGO
from phonesim.facts import Facts

FEE_CENTS = 2_50
STATES = ("Accepted", "In the kitchen", "On its way", "Delivered")
MINUTES_PER_STATE = 8
TIPS = (0, 1_00, 2_00, 5_00)
COMPLAINTS = ("Something is missing", "It came cold", "The wrong dish", "It came very late")
CUISINES = ("Pizza", "Noodles", "Curry", "Salads", "Burgers", "Sweets")


class Dish(NamedTuple):
    """A dish on a menu."""

    name: str
    cents: int


class Restaurant(NamedTuple):
    """A restaurant that delivers."""

    name: str
    cuisine: str
    stars: float
    minutes: int
    dishes: tuple[Dish, ...]
    closed: bool = False


RESTAURANTS: tuple[Restaurant, ...] = (
    Restaurant(
        "Forno Luna", "Pizza", 4.6, 30,
        (Dish("Margherita", 9_50), Dish("Four cheeses", 11_80), Dish("Garden pizza", 10_90),
         Dish("Tiramisu", 5_20)),
    ),
    Restaurant(
        "Stone Oven", "Pizza", 4.2, 25,
        (Dish("Mushroom pizza", 10_40), Dish("Spicy salami", 11_20), Dish("Rocket salad", 7_60)),
    ),
    Restaurant(
        "Lotus Bowl", "Noodles", 4.7, 35,
        (Dish("Ramen", 12_40), Dish("Fried noodles", 9_90), Dish("Dumplings", 6_80),
         Dish("Green tea", 2_90)),
    ),
    Restaurant(
        "Red Lantern", "Noodles", 4.1, 20,
        (Dish("Udon soup", 10_80), Dish("Rice noodles", 9_40), Dish("Spring rolls", 5_60)),
    ),
    Restaurant(
        "Saffron House", "Curry", 4.8, 40,
        (Dish("Lentil curry", 9_80), Dish("Butter chicken", 13_60), Dish("Garlic bread", 3_40),
         Dish("Mango drink", 3_80)),
    ),
    Restaurant(
        "Pepper Tree", "Curry", 4.3, 30,
        (Dish("Vegetable curry", 10_20), Dish("Samosas", 5_40), Dish("Rice pudding", 4_60)),
    ),
    Restaurant(
        "Leaf & Root", "Salads", 4.5, 20,
        (Dish("Big green bowl", 9_20), Dish("Beet salad", 8_40), Dish("Carrot soup", 6_20)),
    ),
    Restaurant(
        "Corner Grill", "Burgers", 4.0, 25,
        (Dish("House burger", 10_60), Dish("Bean burger", 9_60), Dish("Fries", 4_20)),
    ),
    Restaurant(
        "Honey Spoon", "Sweets", 4.9, 30,
        (Dish("Apple cake", 4_80), Dish("Pancakes", 7_20), Dish("Hot chocolate", 3_60)),
    ),
    Restaurant("Night Owl", "Burgers", 3.9, 45, (Dish("Late burger", 9_90),), closed=True),
)  # fmt: skip
RESTAURANT_OF = {restaurant.name: restaurant for restaurant in RESTAURANTS}


@dataclass(frozen=True, slots=True)
class BasketLine:
    """A dish in the basket, and how many of it."""

    id: int = 0
    restaurant: str = ""
    dish: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class FoodOrder:
    """An order; its state follows from the time since it was placed."""

    id: int = 0
    restaurant: str = ""
    dishes: tuple[str, ...] = ()
    cents: int = 0
    address: str = ""
    time: datetime = LONG_AGO
    tip_cents: int = 0
    stars: int = 0
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Complaint:
    """A complaint about an order."""

    id: int = 0
    order: int = 0
    reason: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class FoodAddress:
    """A delivery address."""

    id: int = 0
    label: str = ""
    street: str = ""
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class FavouriteRestaurant:
    """A restaurant marked as favourite."""

    id: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class FoodSettings:
    """The user's preferences. There is one record."""

    id: int = 0
    cutlery: bool = False
    leave_at_door: bool = False
    order_alerts: bool = True
    vegetarian_first: bool = False
    share_location: bool = True


def dish_cents(restaurant: str, dish: str) -> int:
    return next(d.cents for d in RESTAURANT_OF[restaurant].dishes if d.name == dish)


def basket_cents(facts: Facts) -> int:
    """Return the total of the basket, delivery fee included."""
    lines = facts.all(BasketLine)
    return sum(dish_cents(line.restaurant, line.dish) * line.count for line in lines) + FEE_CENTS


def state_of(order: FoodOrder, now: datetime) -> str:
    if order.cancelled:
        return "Cancelled"
    minutes = int((now - order.time).total_seconds()) // 60
    return STATES[min(len(STATES) - 1, max(0, minutes) // MINUTES_PER_STATE)]


def furnish_meals(facts: Facts, rng: random.Random, now: datetime) -> None:
    """Add two addresses, a few orders of the last weeks, favourites."""
    facts.add(FoodSettings())
    facts.add(
        FoodAddress(label="Home", street=f"{rng.randrange(1, 90)} Linden Street", chosen=True)
    )
    facts.add(FoodAddress(label="Work", street=f"{rng.randrange(1, 90)} Market Street"))
    time = now
    open_ones = [restaurant for restaurant in RESTAURANTS if not restaurant.closed]
    for restaurant in rng.sample(open_ones, 4):
        time -= timedelta(minutes=rng.randrange(1500, 9000))
        dishes = tuple(dish.name for dish in rng.sample(restaurant.dishes, 2))
        cents = sum(dish_cents(restaurant.name, dish) for dish in dishes) + FEE_CENTS
        facts.add(FoodOrder(0, restaurant.name, dishes, cents, "Home", time))
    for restaurant in rng.sample(open_ones, 2):
        facts.add(FavouriteRestaurant(name=restaurant.name))
