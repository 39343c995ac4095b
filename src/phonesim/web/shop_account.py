"""A shop's pages for its customer: wish list, orders, account, and help with delivery."""

from __future__ import annotations

from datetime import date

from phonesim.scene import Handler
from phonesim.toolkit.boxes import Pad
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.modals import Dialog
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Text
from phonesim.toolkit.widget import Widget
from phonesim.web.bands import Pairs
from phonesim.web.basket import (
    DeliveryPlace,
    Newsletter,
    Order,
    WishItem,
    orders_of,
    put_in_cart,
    wishes_of,
)
from phonesim.web.catalogue import dollars
from phonesim.web.item_rows import ItemRow
from phonesim.web.shop import Shop, product_of
from phonesim.web.shop_header import header
from phonesim.web.site import SitePage, Visit


def day_text(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


# Wish list -------------------------------------------------------------------------------------


def wish_page(visit: Visit, shop: Shop) -> SitePage:
    wishes = wishes_of(visit.facts, shop.domain)
    rows: list[Widget] = [_wish_row(visit, shop, wish) for wish in wishes]
    return SitePage(
        [Heading("Wish list"), *(rows or [Empty("No wishes yet", "heart")])], header(visit, shop)
    )


def _wish_row(visit: Visit, shop: Shop, wish: WishItem) -> ItemRow:
    product = product_of(wish.product)
    offer = shop.offers(visit.day)[wish.product]
    cart = shop.cart.lower()

    def move() -> None:
        if not offer.in_stock:
            visit.ui.say("Sold out at the moment")
            return
        visit.facts.remove(wish)
        put_in_cart(visit.facts, shop.domain, product.id, product.defaults, 1)
        visit.ui.say(f"Moved to {cart}")

    def remove() -> None:
        visit.facts.remove(wish)
        visit.ui.say("Removed from wish list")

    return ItemRow(
        product.name,
        dollars(offer.price) + ("" if offer.in_stock else " · Sold out"),
        product.picture(),
        visit.opening(shop.product_address(product)),
        [
            IconButton("cart", f"Move {product.name} to {cart}", move),
            IconButton("trash", f"Remove {product.name}", remove),
        ],
    )


# Orders ----------------------------------------------------------------------------------------


def orders_page(visit: Visit, shop: Shop) -> SitePage:
    rows: list[Widget] = [
        ListRow(
            f"Order {order.number}",
            f"{product_of(order.lines[0][0]).name} · {day_text(order.placed)}",
            trailing=dollars(order.total),
            picture=product_of(order.lines[0][0]).picture(),
            on_tap=visit.opening(shop.address("orders", str(order.number))),
        )
        for order in orders_of(visit.facts, shop.domain)
    ]
    return SitePage(
        [Heading("Your orders"), *(rows or [Empty("No orders yet", "truck")])], header(visit, shop)
    )


def order_at(visit: Visit, shop: Shop) -> Order | None:
    number = visit.address.path[-1]
    return next((o for o in orders_of(visit.facts, shop.domain) if str(o.number) == number), None)


def order_page(visit: Visit, shop: Shop) -> SitePage:
    order = order_at(visit, shop)
    if order is None:
        return SitePage([Empty("No such order", "info")], header(visit, shop))

    def again() -> None:
        for product, options, quantity, _ in order.lines:
            put_in_cart(visit.facts, shop.domain, product, options, quantity)
        visit.ui.say(f"Added to {shop.cart.lower()}")

    body: list[Widget] = [
        Heading(f"Order {order.number}"),
        *[
            ItemRow(
                product_of(product).name,
                f"{', '.join(options)} · {quantity} × {dollars(price)}",
                product_of(product).picture(options[0].lower() if options else ""),
                visit.opening(shop.product_address(product_of(product))),
            )
            for product, options, quantity, price in order.lines
        ],
        Pad(
            Pairs(
                [
                    ("Status", order.status),
                    ("Placed", day_text(order.placed)),
                    ("Delivery", order.delivery),
                    ("Deliver to", order.place),
                    ("Total", dollars(order.total)),
                ],
                strong_last=True,
            )
        ),
        Pad(Button("Order again", again), bottom=2),
    ]
    if order.status == "Processing":
        body.append(Pad(Button("Cancel order", visit.showing("cancel_order"), "danger"), top=2))
    return SitePage(body, header(visit, shop))


def cancel_order(visit: Visit, shop: Shop) -> Dialog:
    order = order_at(visit, shop)

    def cancel() -> None:
        if order:
            visit.facts.edit(order, status="Cancelled")
            visit.ui.say("Order cancelled")

    number = order.number if order else ""
    return visit.ui.dialog(
        "Cancel this order?",
        f"Order {number} will not be delivered.",
        {"Keep order": None, "Cancel it": cancel},
    )


# Account and help ------------------------------------------------------------------------------


def newsletter_of(visit: Visit, shop: Shop) -> Newsletter | None:
    return visit.facts.find(Newsletter, lambda choice: choice.shop == shop.domain)


def set_newsletter(visit: Visit, shop: Shop, wanted: bool) -> None:
    choice = newsletter_of(visit, shop)
    if choice:
        visit.facts.edit(choice, wanted=wanted)
    else:
        visit.facts.add(Newsletter(shop=shop.domain, wanted=wanted))


def account_page(visit: Visit, shop: Shop) -> SitePage:
    choice = newsletter_of(visit, shop)
    wanted = bool(choice and choice.wanted)

    def link(title: str, icon: str, *path: str) -> ListRow:
        opening: Handler = visit.opening(shop.address(*path))
        return ListRow(title, icon=icon, on_tap=opening)

    body: list[Widget] = [
        Heading("Account"),
        link("Orders", "truck", "orders"),
        link("Wish list", "heart", "wishlist"),
        link("Delivery and returns", "info", "help"),
        ListRow(
            "Newsletter",
            "News and offers by mail",
            icon="mail",
            switch=wanted,
            on_tap=lambda: set_newsletter(visit, shop, not wanted),
        ),
        Heading("Delivery places"),
        *[ListRow(p.name, p.text, icon="location") for p in visit.facts.all(DeliveryPlace)],
    ]
    return SitePage(body, header(visit, shop))


def help_page(visit: Visit, shop: Shop) -> SitePage:
    terms = shop.terms(visit.day)
    rows = [
        ("Standard delivery", dollars(terms.standard)),
        ("Express delivery", dollars(terms.express)),
        ("Pick-up", "Free"),
        ("Standard takes", f"{terms.days} days"),
        ("Returns within", f"{10 + 2 * terms.days} days"),
    ]
    body: list[Widget] = [
        Heading("Delivery and returns"),
        Pad(Pairs(rows), top=0),
        Pad(Text(f"{shop.name} packs every parcel by hand and leaves it where you want it. "
                 "Send back what you do not like; we pay for the way.", "small", "muted")),
    ]  # fmt: skip
    return SitePage(body, header(visit, shop))
