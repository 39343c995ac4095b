"""A shop's cart and checkout: quantities, coupons, delivery, and placing the order."""

from __future__ import annotations

from dataclasses import dataclass

from phonesim.scene import Handler
from phonesim.toolkit.boxes import Pad, Row
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.modals import Dialog
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Text
from phonesim.toolkit.widget import Widget
from phonesim.web.bands import Band, Pairs
from phonesim.web.basket import (
    COUPONS,
    DELIVERIES,
    AppliedCoupon,
    CartItem,
    DeliveryPlace,
    Order,
    cart_of,
    coupon_of,
    discount,
    next_order_number,
)
from phonesim.web.catalogue import by_slug, dollars
from phonesim.web.item_rows import ItemRow
from phonesim.web.shop import Shop, product_of
from phonesim.web.shop_header import header
from phonesim.web.site import SitePage, Visit

COUPON = "coupon"  # key of its text field


@dataclass(frozen=True, slots=True)
class Buying:
    """What a checkout is for: products with options and quantities, from the cart or not."""

    items: tuple[CartItem, ...]
    from_cart: bool

    def cents(self, shop: Shop, day: int) -> int:
        prices = shop.offers(day)
        return sum(prices[item.product].price * item.quantity for item in self.items)


def delivery_cents(shop: Shop, day: int, delivery: str) -> int:
    terms = shop.terms(day)
    return {"Standard": terms.standard, "Express": terms.express}.get(delivery, 0)


# The cart --------------------------------------------------------------------------------------


def cart_page(visit: Visit, shop: Shop) -> SitePage:
    items = cart_of(visit.facts, shop.domain)
    head = header(visit, shop)
    if not items:
        return SitePage(
            [Heading(f"Your {shop.cart.lower()}"), Empty("Nothing here yet", "cart")], head
        )
    buying = Buying(items, from_cart=True)
    empty = Button(f"Empty {shop.cart.lower()}", visit.showing("empty_cart"), "danger", high=36)
    body: list[Widget] = [
        Heading(f"Your {shop.cart.lower()}"),
        *[_cart_row(visit, shop, item) for item in items],
        Pad(_coupon_row(visit, shop), sides=12),
        Pad(Pairs(_sums(visit, shop, buying, None), strong_last=True), top=0),
        Pad(empty, top=0),
    ]
    checkout = Button("Checkout", visit.opening(shop.address("checkout")))
    return SitePage(body, head, Band(Pad(checkout, sides=12, top=4, bottom=4), line=False))


def _cart_row(visit: Visit, shop: Shop, item: CartItem) -> ItemRow:
    product = product_of(item.product)
    price = shop.offers(visit.day)[item.product].price

    def setting(quantity: int) -> Handler:
        return lambda: visit.facts.edit(item, quantity=quantity)

    def remove() -> None:
        visit.facts.remove(item)
        visit.ui.say(f"Removed from {shop.cart.lower()}")

    tools: list[Widget] = [
        IconButton("minus", f"Fewer {product.name}", setting(max(1, item.quantity - 1))),
        Text(str(item.quantity), "strong"),
        IconButton("plus", f"More {product.name}", setting(min(9, item.quantity + 1))),
        IconButton("trash", f"Remove {product.name}", remove),
    ]
    return ItemRow(
        product.name,
        f"{', '.join(item.options)} · {dollars(price)}",
        product.picture(item.options[0].lower() if item.options else ""),
        visit.opening(shop.product_address(product)),
        tools,
    )


def _coupon_row(visit: Visit, shop: Shop) -> Widget:
    ui = visit.ui
    applied = coupon_of(visit.facts, shop.domain)
    if applied:
        percent = COUPONS[applied.code]
        return Row(
            [
                Text(f"Code {applied.code}: {percent}% off", "small"),
                IconButton("close", "Remove code", lambda: visit.facts.remove(applied)),
            ],
            stretch=0,
        )

    def apply() -> None:
        code = ui.text(COUPON).strip().upper()
        ui.hide_keyboard()
        if code in COUPONS:
            visit.facts.add(AppliedCoupon(shop=shop.domain, code=code))
            ui.say(f"{COUPONS[code]}% off")
        else:
            ui.say("This code is not valid")

    field = ui.field(COUPON, "Coupon code", on_submit=apply, icon="tag")
    return Row([field, Button("Apply", apply, "soft")], stretch=0)


def _sums(visit: Visit, shop: Shop, buying: Buying, delivery: str | None) -> list[tuple[str, str]]:
    cents = buying.cents(shop, visit.day)
    off = discount(visit.facts, shop.domain, cents)
    rows = [("Items", dollars(cents))]
    if off:
        rows.append(("Coupon", f"−{dollars(off)}"))
    if delivery is not None:
        fee = delivery_cents(shop, visit.day, delivery)
        rows.append(("Delivery", dollars(fee) if fee else "Free"))
        cents += fee
    return [*rows, ("Total", dollars(cents - off))]


def empty_cart(visit: Visit, shop: Shop) -> Dialog:
    def empty() -> None:
        visit.facts.remove_where(CartItem, lambda item: item.shop == shop.domain)
        visit.ui.say(f"Your {shop.cart.lower()} is empty")

    name = shop.cart.lower()
    return visit.ui.dialog(
        f"Empty the {name}?", "Everything in it will be taken out.", {"Keep": None, "Empty": empty}
    )


# Checkout --------------------------------------------------------------------------------------


def buying_at(visit: Visit, shop: Shop) -> Buying | None:
    """Return what the checkout at this address buys; None if there is nothing to buy."""
    product = by_slug().get(visit.address.get("item"))
    if product is None or product.id not in shop.offers(visit.day):
        items = cart_of(visit.facts, shop.domain)
        return Buying(items, from_cart=True) if items else None
    options = tuple(visit.address.get("options").split("|"))
    quantity = visit.address.get("quantity", "1")
    item = CartItem(
        shop=shop.domain,
        product=product.id,
        options=options,
        quantity=min(9, max(1, int(quantity))) if quantity.isdecimal() else 1,
    )
    return Buying((item,), from_cart=False)


def checkout_page(visit: Visit, shop: Shop) -> SitePage:
    buying = buying_at(visit, shop)
    if buying is None:
        return SitePage([Empty("Nothing to pay for", "cart")], header(visit, shop))
    ui = visit.ui
    places = visit.facts.all(DeliveryPlace)
    place = str(ui.get("place", places[0].name if places else ""))
    delivery = str(ui.get("delivery", DELIVERIES[0]))

    def picking(key: str, value: str) -> Handler:
        return lambda: ui.set(key, value)

    body: list[Widget] = [
        Heading("Checkout"),
        *[
            ItemRow(
                product_of(item.product).name,
                f"{', '.join(item.options)} · {item.quantity} ×",
                product_of(item.product).picture(item.options[0].lower() if item.options else ""),
                visit.opening(shop.product_address(product_of(item.product))),
            )
            for item in buying.items
        ],
        Heading("Delivery"),
        *[
            ListRow(
                name,
                when,
                trailing=dollars(fee) if (fee := delivery_cents(shop, visit.day, name)) else "Free",
                radio=name == delivery,
                on_tap=picking("delivery", name),
            )
            for name, when in _times(visit, shop)
        ],
        Heading("Deliver to"),
        *[
            ListRow(p.name, p.text, radio=p.name == place, on_tap=picking("place", p.name))
            for p in places
        ],
        Heading("Payment"),
        ListRow("Card", "ending in 4417", icon="card"),
        Pad(Pairs(_sums(visit, shop, buying, delivery), strong_last=True)),
    ]
    order = Button("Place order", lambda: _place_order(visit, shop, buying, delivery, place))
    return SitePage(body, header(visit, shop), Band(Pad(order, sides=12, top=4, bottom=4)))


def _times(visit: Visit, shop: Shop) -> list[tuple[str, str]]:
    days = shop.terms(visit.day).days
    return [
        ("Standard", f"In {days} days"),
        ("Express", "Tomorrow"),
        ("Pick-up", "At a parcel station near you"),
    ]


def _place_order(visit: Visit, shop: Shop, buying: Buying, delivery: str, place: str) -> None:
    facts = visit.facts
    prices = shop.offers(visit.day)
    cents = buying.cents(shop, visit.day)
    total = cents - discount(facts, shop.domain, cents) + delivery_cents(shop, visit.day, delivery)
    order = facts.add(
        Order(
            shop=shop.domain,
            number=next_order_number(facts),
            lines=tuple(
                (item.product, item.options, item.quantity, prices[item.product].price)
                for item in buying.items
            ),
            total=total,
            delivery=delivery,
            place=place,
            placed=visit.ui.now.date(),
        )
    )
    if buying.from_cart:
        facts.remove_where(CartItem, lambda item: item.shop == shop.domain)
    facts.remove_where(AppliedCoupon, lambda coupon: coupon.shop == shop.domain)
    visit.replace(shop.address("orders", str(order.number)))
    visit.ui.say("Thank you! Your order is placed")
