"""Food: restaurants, dishes, a basket, and orders to follow, tip, rate and complain about."""

from __future__ import annotations

import random
from datetime import datetime
from functools import partial

from phonesim.app import App, Ui, Window
from phonesim.apps.everyday import food_orders
from phonesim.apps.everyday.switches import switch_rows
from phonesim.contents.everyday.meals import (
    CUISINES,
    RESTAURANT_OF,
    RESTAURANTS,
    BasketLine,
    Complaint,
    FavouriteRestaurant,
    FoodAddress,
    FoodOrder,
    FoodSettings,
    Restaurant,
    basket_cents,
    dish_cents,
    furnish_meals,
)
from phonesim.contents.everyday.money import money
from phonesim.facts import Facts, MissingFact
from phonesim.toolkit.boxes import Card, Column, Flow, Pad, Row
from phonesim.toolkit.controls import Button, Chip, IconButton
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Icon, Picture, Text
from phonesim.toolkit.widget import Widget

SWITCHES = {
    "cutlery": "Send cutlery",
    "leave_at_door": "Leave it at the door",
    "order_alerts": "Tell me where my order is",
    "vegetarian_first": "Vegetarian first",
    "share_location": "Share my location with riders",
}
VOUCHERS = {"SOUP10": "Ten per cent off soups", "FIRST": "Free delivery for new guests"}


class FoodApp(App):
    """The list of restaurants first; basket and orders are in the bar."""

    name = "Food"
    icon = "food"
    color = (206, 96, 40)
    preinstalled = False
    kinds = (BasketLine, FoodOrder, Complaint, FoodAddress, FavouriteRestaurant, FoodSettings)

    network_pages = frozenset(
        ("search", "restaurant", "dish", "checkout", "tip", "rate", "complain", "complaint",
         "confirm_cancel", "restaurant_info")
    )  # fmt: skip

    checkout = staticmethod(food_orders.checkout)
    choose_address = staticmethod(food_orders.choose_address)
    new_address = staticmethod(food_orders.new_address)
    placed = staticmethod(food_orders.placed)
    not_paid = staticmethod(food_orders.not_paid)
    orders = staticmethod(food_orders.orders)
    order = staticmethod(food_orders.order)
    tip = staticmethod(food_orders.tip)
    rate = staticmethod(food_orders.rate)
    complain = staticmethod(food_orders.complain)
    complaint = staticmethod(food_orders.complaint)
    complained = staticmethod(food_orders.complained)
    complaints = staticmethod(food_orders.complaints)
    confirm_cancel = staticmethod(food_orders.confirm_cancel)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        furnish_meals(facts, rng, now)

    def home(self, ui: Ui) -> Window:
        cuisine = ui.text("cuisine")
        chips = [
            Chip(
                ui.tr(each),
                partial(ui.set, "cuisine", "" if each == cuisine else each),
                each == cuisine,
            )
            for each in CUISINES
        ]
        found = [each for each in RESTAURANTS if cuisine in ("", each.cuisine)]
        return ui.page(
            ui.tr("Food"),
            [Pad(Flow(chips), top=8, bottom=2), *(_restaurant_card(ui, each) for each in found)],
            actions=[
                IconButton("search", ui.tr("Search"), lambda: ui.go("search")),
                IconButton("cart", ui.tr("Basket"), lambda: ui.go("basket")),
                IconButton("more", ui.tr("More options"), lambda: ui.go("options")),
            ],
        )

    def options(self, ui: Ui) -> Window:
        pages = {
            "My orders": "orders", "Favourites": "favourites", "Vouchers": "vouchers",
            "Addresses": "choose_address", "My complaints": "complaints",
            "Food settings": "settings",
        }  # fmt: skip
        return ui.menu({ui.tr(label): partial(ui.go, page) for label, page in pages.items()})

    def search(self, ui: Ui) -> Window:
        query = ui.text("query").strip().casefold()
        rows: list[Widget] = [
            ListRow(
                dish.name,
                restaurant.name,
                trailing=money(dish.cents, ui.language),
                picture=f"dish:{dish.name}",
                on_tap=partial(ui.go, "dish", restaurant.name, dish.name),
            )
            for restaurant in RESTAURANTS
            for dish in restaurant.dishes
            if query and query in f"{dish.name} {restaurant.name}".casefold()
        ]
        empty = Empty(
            ui.tr("Nobody cooks that") if query else ui.tr("Dishes and restaurants"), "search"
        )
        return ui.page(
            ui.tr("Search"),
            rows or [empty],
            head=Pad(
                ui.field("query", ui.tr("Search dishes"), icon="search"), sides=12, top=6, bottom=4
            ),
        )

    def restaurant(self, ui: Ui, name: str) -> Window:
        place = _place(name)
        liked = ui.facts.find(FavouriteRestaurant, lambda each: each.name == name)

        def toggle() -> None:
            if liked:
                ui.facts.remove(liked)
            else:
                ui.facts.add(FavouriteRestaurant(name=name))

        label = ui.tr("Remove from favourites") if liked else ui.tr("Add to favourites")
        heart = IconButton("heart_filled" if liked else "heart", label, toggle)
        rows = [
            ListRow(
                dish.name,
                trailing=money(dish.cents, ui.language),
                picture=f"dish:{dish.name}",
                on_tap=partial(ui.go, "closed" if place.closed else "dish", name, dish.name),
            )
            for dish in place.dishes
        ]
        about = f"{_kind(ui, place)} · {ui.tr('{count} min', count=place.minutes)}"
        return ui.page(
            name,
            [
                Picture(_table(place), high=110),
                Pad(Text(about, "small", "muted")),
                Heading(ui.tr("Menu")),
                *rows,
                ListRow(
                    ui.tr("About this place"),
                    icon="info",
                    on_tap=partial(ui.go, "restaurant_info", name),
                ),
            ],
            actions=[heart, IconButton("cart", ui.tr("Basket"), lambda: ui.go("basket"))],
        )

    def restaurant_info(self, ui: Ui, name: str) -> Window:
        """Details of a restaurant, and how often the user ordered there."""
        place = _place(name)
        ordered = len(ui.facts.where(FoodOrder, lambda order: order.restaurant == name))
        cheapest = min(place.dishes, key=lambda dish: dish.cents)
        stars = ui.tr("{stars} stars", stars=ui.language.number(place.stars, 1))
        open_now = ui.tr("Closed at the moment") if place.closed else ui.tr("Open now")
        return ui.page(
            name,
            [
                Picture(f"banner:{name}", high=110),
                ListRow(ui.tr("Kitchen"), ui.tr(place.cuisine), icon="food"),
                ListRow(ui.tr("Rating"), stars, icon="star"),
                ListRow(
                    ui.tr("Delivery"),
                    f"{ui.tr('{count} min', count=place.minutes)} · {money(250, ui.language)}",
                    icon="bike",
                ),
                ListRow(ui.tr("Dishes from"), money(cheapest.cents, ui.language), icon="coin"),
                ListRow(ui.tr("Opening hours"), open_now, icon="clock"),
                ListRow(ui.tr("My orders"), str(ordered), icon="bag"),
            ],
        )

    def closed(self, ui: Ui, name: str, _: str = "") -> Window:
        """An error page: the restaurant is closed."""
        return ui.page(
            name,
            [
                Pad(Icon("moon", 72, "muted"), top=40),
                Pad(Text(ui.tr("Closed at the moment"), "headline", align="centre")),
                Pad(Text(ui.tr("Come back after eight in the evening."), "body", align="centre")),
            ],
            foot=Pad(Button(ui.tr("Go back"), ui.back, "soft")),
        )

    def dish(self, ui: Ui, restaurant: str, name: str) -> Window:
        count, cents = int(ui.get("count", 1)), _dish_cents(restaurant, name)
        lines = ui.facts.all(BasketLine)

        def add() -> None:
            if lines and lines[0].restaurant != restaurant:
                ui.go("confirm_empty", restaurant)
                return
            ui.facts.add(BasketLine(restaurant=restaurant, dish=name, count=count))
            ui.back()
            ui.say(ui.tr("In your basket"))

        less = partial(ui.set, "count", max(1, count - 1))
        more = partial(ui.set, "count", min(20, count + 1))
        counter = Row(
            [
                IconButton("minus", ui.tr("Fewer"), less),
                Text(str(count), "headline"),
                IconButton("plus", ui.tr("More"), more),
            ],
            align="centre",
            gap=18,
        )
        return ui.page(
            name,
            [
                Picture(f"dish:{name}", high=170),
                Pad(Text(money(cents, ui.language), "headline"), bottom=0),
                Pad(Text(ui.tr("From {name}", name=restaurant), "small", "muted"), top=2),
                Pad(counter, top=12),
            ],
            foot=Pad(Button(ui.tr("Add to basket"), add, icon="cart")),
        )

    def confirm_empty(self, ui: Ui, restaurant: str) -> Window:
        empty = partial(ui.facts.remove_where, BasketLine, lambda line: True)
        text = ui.tr(
            "There are dishes of another place in it. Empty it for {name}?", name=restaurant
        )
        return ui.dialog(
            ui.tr("Empty the basket?"), text, {ui.tr("Cancel"): None, ui.tr("Empty basket"): empty}
        )

    def basket(self, ui: Ui) -> Window:
        lines = ui.facts.all(BasketLine)
        rows = [
            ListRow(
                f"{line.count} × {line.dish}",
                line.restaurant,
                picture=f"dish:{line.dish}",
                trailing=money(dish_cents(line.restaurant, line.dish) * line.count, ui.language),
                button=(
                    "trash",
                    ui.tr("Remove {name}", name=line.dish),
                    partial(ui.facts.remove, line),
                ),
            )
            for line in lines
        ]
        if not rows:
            return ui.page(ui.tr("Basket"), [Empty(ui.tr("Your basket is empty"), "cart")])
        total = Row(
            [
                Text(ui.tr("Total"), "title"),
                Text(money(basket_cents(ui.facts), ui.language), "title"),
            ],
            stretch=0,
        )
        return ui.page(
            ui.tr("Basket"),
            [
                *rows,
                ListRow(ui.tr("Delivery"), trailing=money(250, ui.language), icon="bike"),
                Pad(total, top=14),
            ],
            foot=Pad(Button(ui.tr("Checkout"), lambda: ui.go("checkout"))),
        )

    # What else there is ------------------------------------------------------------------------

    def favourites(self, ui: Ui) -> Window:
        names = [each.name for each in ui.facts.all(FavouriteRestaurant)]
        rows = [
            ListRow(name, picture=_first_dish(name), on_tap=partial(ui.go, "restaurant", name))
            for name in names
        ]
        return ui.page(ui.tr("Favourites"), rows or [Empty(ui.tr("No favourites yet"), "heart")])

    def vouchers(self, ui: Ui) -> Window:
        cards: list[Widget] = [
            Pad(Card(Column([Text(code, "title", "primary"), Text(ui.tr(words))], gap=6)), sides=12)
            for code, words in VOUCHERS.items()
        ]
        return ui.page(ui.tr("Vouchers"), cards)

    def settings(self, ui: Ui) -> Window:
        return ui.page(ui.tr("Food settings"), switch_rows(ui, FoodSettings, SWITCHES))


def _place(name: str) -> Restaurant:
    if name not in RESTAURANT_OF:
        raise MissingFact(f"no restaurant called {name}")
    return RESTAURANT_OF[name]


def _dish_cents(restaurant: str, name: str) -> int:
    dishes = {dish.name: dish.cents for dish in _place(restaurant).dishes}
    if name not in dishes:
        raise MissingFact(f"{restaurant} has no {name}")
    return dishes[name]


def _first_dish(name: str) -> str:
    """Return the key of the picture that stands for a restaurant."""
    return f"dish:{_place(name).dishes[0].name}"


def _table(place: Restaurant) -> str:
    """Return the key of the picture above a menu: the first three dishes on one table."""
    return f"dish:{'+'.join(dish.name for dish in place.dishes[:3])}"


def _kind(ui: Ui, place: Restaurant) -> str:
    stars = ui.tr("{stars} stars", stars=ui.language.number(place.stars, 1))
    return f"{ui.tr(place.cuisine)} · {stars}"


def _restaurant_card(ui: Ui, each: Restaurant) -> Widget:
    state = ui.tr("Closed") if each.closed else ui.tr("{count} min", count=each.minutes)
    words = Column(
        [Text(each.name, "strong"), Text(_kind(ui, each), "small", "muted")],
        gap=3,
    )
    picture = Picture(_first_dish(each.name), px=44, high=44)
    body = Row([picture, words, Text(state, "small", "primary")], gap=10, stretch=1)
    return Pad(
        Card(body, each.name, on_tap=partial(ui.go, "restaurant", each.name)),
        sides=12,
        top=4,
        bottom=4,
    )
