"""The page of one product in a shop: picture, price, options, quantity, buttons, reviews."""

from __future__ import annotations

import random
from functools import lru_cache

from phonesim.drawing.theme import Theme
from phonesim.scene import Scene
from phonesim.toolkit.boxes import Card, Column, Flow, Pad, Row, Space
from phonesim.toolkit.controls import Button, Chip, IconButton
from phonesim.toolkit.rows import Empty
from phonesim.toolkit.texts import Heading, Picture, Text
from phonesim.toolkit.widget import Size, Widget
from phonesim.web.bands import Band, Link, Pairs
from phonesim.web.basket import WishItem, put_in_cart, wishes_of
from phonesim.web.catalogue import Product, by_slug, dollars, lines
from phonesim.web.offers import Offer, Wanted
from phonesim.web.product_cards import draw_price, draw_stars
from phonesim.web.shop import Shop
from phonesim.web.shop_header import header
from phonesim.web.shop_results import offer_cards
from phonesim.web.site import SitePage, Visit

MOST = 9  # pieces of one product at a time
REVIEWERS = ("Noor", "Pia", "Emil", "Tariq", "Lotte", "Sam", "Yuki", "Bruno", "Ada", "Jonas")
PRAISE = (
    "Exactly as described, would buy again.",
    "Arrived a day early and works well.",
    "Good value, though the box was dented.",
    "My whole family uses it now.",
    "Solid, simple, no complaints so far.",
    "The colour is even nicer than in the picture.",
)
BLAME = (
    "It is fine, but I expected more for the price.",
    "Stopped being fun after a week.",
    "The instructions could be clearer.",
)


class PriceLine:
    """The price in large letters, with the old one beside it."""

    def __init__(self, offer: Offer) -> None:
        self.offer = offer

    def size(self, theme: Theme, width: int) -> Size:
        return width, theme.headline.line_height

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        draw_price(scene, x, y, width, self.offer, scene.theme.headline)
        scene.element("text", dollars(self.offer.price), (x, y, width, height))


class StarLine:
    """The rating as five stars."""

    def __init__(self, offer: Offer) -> None:
        self.offer = offer

    def size(self, theme: Theme, width: int) -> Size:
        return width, theme.tiny.line_height + 4

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        draw_stars(scene, x, y + 2, self.offer, all_five=True)
        text = f"{self.offer.stars} stars, {self.offer.reviews} reviews"
        scene.element("text", text, (x, y, width, height))


def product_page(visit: Visit, shop: Shop) -> SitePage:
    product = by_slug().get(visit.address.path[1] if len(visit.address.path) > 1 else "")
    offer = shop.offers(visit.day).get(product.id) if product else None
    if offer is None:
        return SitePage([Empty("This page is gone", "info")], header(visit, shop))
    parts = _parts(visit, shop, offer)
    order = (
        ("picture", "name", "choose")
        if shop.style.cards == "tall"
        else ("name", "picture", "choose")
    )
    if visit.ui.theme.cards:
        order = (order[1], order[0], order[2])
    at_foot = shop.style.buy_at_foot == visit.ui.theme.floating
    body = [widget for part in order for widget in parts[part]]
    if not at_foot:
        body.extend(_buttons(visit, shop, offer, foot=False))
    body.extend(_about(visit, shop, offer))
    foot = Band(Column(_buttons(visit, shop, offer, foot=True))) if at_foot else None
    return SitePage(body, header(visit, shop), foot)


def chosen_options(visit: Visit, product: Product) -> tuple[str, ...]:
    """Return the chosen options: the colour, and the second option if there is one."""
    colour = str(visit.ui.get("colour", product.defaults[0]))
    if not product.option:
        return (colour,)
    return (colour, str(visit.ui.get("choice", product.defaults[1])))


def _parts(visit: Visit, shop: Shop, offer: Offer) -> dict[str, list[Widget]]:
    product = offer.product
    line = lines()[product.line]
    colour = chosen_options(visit, product)[0].lower()
    high = 300 if shop.style.cards == "tall" else 210
    return {
        "name": [
            Pad(
                Link(line.title, visit.opening(shop.address("c", line.key)), "tiny"),
                top=4,
                bottom=0,
            ),
            Pad(Text(product.name, "title"), top=0, bottom=2),
            Pad(Text(f"by {product.brand}", "small", "muted"), top=0, bottom=2),
            Pad(StarLine(offer), top=0, bottom=4),
        ],
        "picture": [
            Picture(product.picture(colour), high=high, label=f"Picture of {product.name}")
        ],
        "choose": [
            Pad(PriceLine(offer), top=8, bottom=2),
            Pad(_stock(visit, shop, offer), top=0, bottom=4),
            *_options(visit, product),
        ],
    }


def _stock(visit: Visit, shop: Shop, offer: Offer) -> Text:
    if not offer.in_stock:
        return Text("Sold out", "small", "danger")
    days = shop.terms(visit.day).days
    return Text(f"In stock · with you in {days} days", "small", (34, 132, 70))


def _options(visit: Visit, product: Product) -> list[Widget]:
    ui = visit.ui
    chosen = chosen_options(visit, product)

    def chips(key: str, values: tuple[str, ...], now: str) -> Flow:
        return Flow([Chip(v, lambda v=v: ui.set(key, v), v == now) for v in values])  # type: ignore[misc]

    colours = tuple(colour.title() for colour in product.colours)
    rows: list[Widget] = []
    if len(colours) > 1:
        rows.append(Pad(Text("Colour", "small", "muted"), top=2, bottom=2))
        rows.append(Pad(chips("colour", colours, chosen[0]), top=0, bottom=6))
    if product.option:
        rows.append(Pad(Text(product.option, "small", "muted"), top=2, bottom=2))
        rows.append(Pad(chips("choice", product.choices, chosen[1]), top=0, bottom=6))
    return rows


def _buttons(visit: Visit, shop: Shop, offer: Offer, *, foot: bool) -> list[Widget]:
    """Return quantity and buttons: cart, checkout, wish list."""
    ui, product = visit.ui, offer.product
    options = chosen_options(visit, product)
    quantity = int(ui.get("quantity", 1))

    def add() -> None:
        put_in_cart(visit.facts, shop.domain, product.id, options, quantity)
        ui.say(f"Added to {shop.cart.lower()}")

    def buy() -> None:
        visit.open(
            shop.address(
                "checkout", item=product.slug, options="|".join(options), quantity=quantity
            )
        )

    stepper: list[Widget] = [
        IconButton("minus", "Decrease quantity", lambda: ui.set("quantity", max(1, quantity - 1))),
        Text(str(quantity), "strong", align="centre"),
        IconButton(
            "plus", "Increase quantity", lambda: ui.set("quantity", min(MOST, quantity + 1))
        ),
        Space(1, 4),
    ]
    add_button = Button(shop.add_label, add, enabled=offer.in_stock)
    buy_button = Button("Buy now", buy, "soft", enabled=offer.in_stock)
    wish = _wish_button(visit, shop, product)
    if foot:
        first = Row([*stepper, buy_button, wish], gap=2, stretch=4)
        return [Pad(first, sides=8, top=2, bottom=2), Pad(add_button, sides=12, top=0, bottom=6)]
    return [
        Pad(Row([Text("Quantity", "small", "muted"), *stepper, wish], gap=4), top=0, bottom=2),
        Pad(add_button, top=2, bottom=4),
        Pad(buy_button, top=2, bottom=4),
    ]


def _wish_button(visit: Visit, shop: Shop, product: Product) -> IconButton:
    wishes = wishes_of(visit.facts, shop.domain)
    wished = next((wish for wish in wishes if wish.product == product.id), None)

    def toggle() -> None:
        if wished:
            visit.facts.remove(wished)
            visit.ui.say("Removed from wish list")
        else:
            visit.facts.add(WishItem(shop=shop.domain, product=product.id))
            visit.ui.say("Added to wish list")

    icon, label = (
        ("heart_filled", "Remove from wish list") if wished else ("heart", "Add to wish list")
    )
    return IconButton(icon, label, toggle, selected=wished is not None)


def _about(visit: Visit, shop: Shop, offer: Offer) -> list[Widget]:
    product = offer.product
    similar = [
        other
        for other in shop.find(visit.day, Wanted(line=product.line))
        if other.product.id != product.id
    ][: 3 if shop.style.cards == "trio" else 2]
    rows = [
        ("Brand", product.brand),
        ("Released", f"{product.released:%B %Y}"),
        ("Article", f"{product.id}-{product.line[:2].upper()}"),
    ]
    details = Column([Text(f"• {detail}", "small") for detail in product.details], gap=4)
    return [
        Heading("About this product"),
        Pad(details, top=0),
        Pad(Pairs(rows), top=0),
        Heading("Reviews"),
        *[
            Pad(_review(who, stars, text), sides=12, top=0)
            for who, stars, text in reviews(product.id)
        ],
        *([Heading("You may also like"), *offer_cards(visit, shop, similar)] if similar else []),
    ]


def _review(who: str, stars: int, text: str) -> Card:
    head = Row([Text(who, "strong"), Text(f"{stars} of 5", "tiny", "muted")])
    return Card(Column([head, Text(text, "small")], gap=2), pad=10)


@lru_cache(maxsize=1024)
def reviews(product_id: int) -> tuple[tuple[str, int, str], ...]:
    """Return the reviews of a product: name, stars, words."""
    rng = random.Random(f"reviews/{product_id}")
    people = rng.sample(REVIEWERS, 3)
    kinds = [rng.random() < 0.75 for _ in people]
    return tuple(
        (
            who,
            rng.randint(4, 5) if good else rng.randint(2, 3),
            rng.choice(PRAISE if good else BLAME),
        )
        for who, good in zip(people, kinds, strict=True)
    )
