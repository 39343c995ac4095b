"""Tasks of buying: checkout, delivery, orders placed before, the newsletter."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from phonesim.facts import Facts
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.differences import only_changed
from phonesim.tasks.moves import Move, Press, Toggle
from phonesim.tasks.shopping.errand import (
    Errand,
    choose_day,
    distract,
    empty_cart,
    from_menu,
    in_stock,
    one_new_item,
    take_out,
    to_product,
    to_shop,
)
from phonesim.tasks.shopping.shelves import LISTINGS, OPTIONS, STORES, Listing, Store
from phonesim.tasks.template import Template, View, added, changed, differing_fields, removed
from phonesim.web.basket import (
    CartItem,
    Newsletter,
    Order,
    cart_of,
)
from phonesim.web.customer import add_order

LONG_AGO = datetime(2026, 1, 4)


def one_new_order(start: View, end: View, listing: Listing) -> Order | str:
    """Return the one new order if it is for one piece of that product; else what is wrong."""
    new = added(start, end, Order)
    if len(new) != 1 or changed(start, end, Order) or removed(start, end, Order):
        return f"expected one new order; {len(new)} are new"
    order = new[0]
    bought = [(product, quantity) for product, _, quantity, _ in order.lines]
    if order.shop != listing.domain or bought != [(listing.product_id, 1)]:
        return f"the order at {order.shop} is for {bought}, not for one {listing.product.name!r}"
    return order


class _Buying(Errand):
    touches = (Order,)
    item: Listing

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        choose_day(facts, rng, in_stock(self.item))
        empty_cart(facts, self.item.shop)


@dataclass(frozen=True)
class Buy(_Buying):
    name = "shopping.buy"
    difficulty = "hard"
    phrasings = (
        "Buy the {product} on {shop}",
        "Order the {product} from {shop}",
        "Go to {shop}, find the {product} and order it",
    )
    item: Listing = parameter(LISTINGS)

    def missing(self, start: View, end: View) -> str | None:
        found = one_new_order(start, end, self.item)
        return found if isinstance(found, str) else None

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_product(start, self.item)
        yield Press("Buy now")
        yield Press("Place order")


@dataclass(frozen=True)
class BuyExpress(_Buying):
    name = "shopping.buy_express"
    difficulty = "hard"
    phrasings = (
        "Buy the {product} on {shop} with express delivery",
        "Order the {product} from {shop}. It has to be here tomorrow, so choose express",
        "Get me the {product} from {shop_name} by express delivery",
    )
    item: Listing = parameter(LISTINGS)

    def missing(self, start: View, end: View) -> str | None:
        found = one_new_order(start, end, self.item)
        if isinstance(found, str):
            return found
        return None if found.delivery == "Express" else f"the delivery is {found.delivery}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_product(start, self.item)
        yield Press("Buy now")
        yield Press("Express")
        yield Press("Place order")


@dataclass(frozen=True)
class BuyForWork(_Buying):
    name = "shopping.buy_for_work"
    difficulty = "hard"
    held_out = True
    phrasings = (
        "Buy the {product} on {shop} and have it delivered to my work address",
        "Order the {product} from {shop}; deliver it to “Work”",
        "I want the {product} from {shop_name} sent to the office. Choose Work as the place",
    )
    item: Listing = parameter(LISTINGS)

    def missing(self, start: View, end: View) -> str | None:
        found = one_new_order(start, end, self.item)
        if isinstance(found, str):
            return found
        return None if found.place == "Work" else f"it goes to {found.place}, not to Work"

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_product(start, self.item)
        yield Press("Buy now")
        yield Press("Work")
        yield Press("Place order")


@dataclass(frozen=True)
class BuyOption(_Buying):
    name = "shopping.buy_option"
    difficulty = "hard"
    phrasings = (
        "Buy the {product} on {shop}, {option} {choice}",
        "Order the {product} with the {option} {choice} from {shop}",
        "From {shop_name}, order the {product} ({option}: {choice})",
    )
    item: Listing = parameter(OPTIONS)

    def missing(self, start: View, end: View) -> str | None:
        found = one_new_order(start, end, self.item)
        if isinstance(found, str):
            return found
        options = found.lines[0][1]
        return None if options[-1] == self.item.choice else f"the options are {options}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_product(start, self.item)
        yield Press(self.item.choice)
        yield Press("Buy now")
        yield Press("Place order")


@dataclass(frozen=True)
class CheckoutCart(Errand):
    name = "shopping.checkout"
    difficulty = "medium"
    phrasings = (
        "Order what is in my {cart} on {shop}, to be picked up",
        "Check out my {cart} at {shop} with the delivery option Pick-up",
        "Buy the things in the {shop_name} {cart}. I will pick them up",
    )
    touches = (Order, CartItem)
    store: Store = parameter(STORES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        empty_cart(facts, self.store.shop)
        distract(facts, rng, self.store.shop, CartItem)

    def missing(self, start: View, end: View) -> str | None:
        (item,) = cart_of(start.facts, self.store.domain)
        found = one_new_order(start, end, Listing(item.shop, item.product))
        if isinstance(found, str):
            return found
        if found.delivery != "Pick-up":
            return f"the delivery is {found.delivery}, not Pick-up"
        others = [item for item in start.all(CartItem) if item.shop != self.store.domain]
        return None if list(end.all(CartItem)) == others else "a cart was changed"

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_shop(start, self.store.shop)
        yield Press(self.store.shop.cart)
        yield Press("Checkout")
        yield Press("Pick-up")
        yield Press("Place order")


@dataclass(frozen=True)
class OrderAgain(Errand):
    name = "shopping.order_again"
    difficulty = "medium"
    phrasings = (
        "I ordered the {product} at {shop} before. Put the same order into the {cart} again",
        "Find my order of the {product} on {shop} and add it to the {cart} again",
        "Repeat my {shop_name} order of the {product}: as far as the {cart}, do not pay yet",
    )
    touches = (CartItem,)
    item: Listing = parameter(LISTINGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        """Add an old order with random options, which need not be the shop's defaults."""
        take_out(facts, self.item)
        facts.remove_where(Order, lambda order: order.lines[0][0] == self.item.product_id)
        order = add_order(facts, self.item.shop, self.item.product_id, rng, LONG_AGO)
        (product, _, quantity, price), *_ = order.lines
        sold = self.item.product
        choice = [rng.choice(sold.choices)] if sold.choices else []
        options = (rng.choice(sold.colours).title(), *choice)
        facts.edit(order, lines=((product, options, quantity, price),))

    def missing(self, start: View, end: View) -> str | None:
        found = one_new_item(start, end, self.item)
        if isinstance(found, str):
            return found
        ordered = order_of(start, self.item).lines[0][1]
        return None if found.options == ordered else f"it is {found.options}, not {ordered}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from from_menu(start, self.item.shop, "Orders")
        yield Press(f"Order {order_of(start, self.item).number}")
        yield Press("Order again")


def order_of(view: View, listing: Listing) -> Order:
    """Return the order of a product that the task's `prepare` added."""
    mine = (order for order in view.all(Order) if order.shop == listing.domain)
    return next(order for order in mine if order.lines[0][0] == listing.product_id)


@dataclass(frozen=True)
class CancelOrder(Errand):
    name = "shopping.cancel_order"
    difficulty = "medium"
    phrasings = (
        "Cancel my order of the {product} on {shop}",
        "I changed my mind about the {product} I ordered at {shop}. Cancel the order",
        "Please cancel the {shop_name} order with the {product}",
    )
    touches = (Order,)
    item: Listing = parameter(LISTINGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(Order, lambda order: order.lines[0][0] == self.item.product_id)
        shop, product = self.item.shop, self.item.product_id
        add_order(facts, shop, product, rng, LONG_AGO, status="Processing")
        other = rng.choice([number for number in shop.range if number != product])
        add_order(facts, shop, other, rng, LONG_AGO, status="Processing")

    def missing(self, start: View, end: View) -> str | None:
        if added(start, end, Order) or removed(start, end, Order):
            return "an order was added or removed"
        pairs = changed(start, end, Order)
        wanted = order_of(start, self.item)
        if [old.id for old, _ in pairs] != [wanted.id]:
            return f"expected only order {wanted.number} to change; {len(pairs)} changed"
        old, new = pairs[0]
        cancelled = new.status == "Cancelled" and differing_fields(old, new) == {"status"}
        return None if cancelled else f"the order is {new.status}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from from_menu(start, self.item.shop, "Orders")
        yield Press(f"Order {order_of(start, self.item).number}")
        yield Press("Cancel order")
        yield Press("Cancel it")


@dataclass(frozen=True)
class SetNewsletter(Errand):
    name = "shopping.newsletter"
    difficulty = "medium"
    phrasings = (
        "Subscribe to the newsletter of {shop}",
        "Turn on the newsletter in my account on {shop}",
        "I want to get mail with offers from {shop_name}. Switch the newsletter on",
    )
    touches = (Newsletter,)
    store: Store = parameter(STORES)

    def missing(self, start: View, end: View) -> str | None:
        letter = next(n for n in start.all(Newsletter) if n.shop == self.store.domain)
        return only_changed(start, end, Newsletter, letter.id, wanted=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield from from_menu(start, self.store.shop, "Account")
        yield Toggle("Newsletter", True)


TEMPLATES: tuple[type[Template], ...] = (
    Buy,
    BuyExpress,
    BuyForWork,
    BuyOption,
    CheckoutCart,
    OrderAgain,
    CancelOrder,
    SetNewsletter,
)
