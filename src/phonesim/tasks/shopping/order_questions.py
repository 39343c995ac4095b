"""Questions about what the customer has with a shop: orders, cart, wish list, delivery."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.facts import Facts
from phonesim.tasks.answers import mentions
from phonesim.tasks.domains import parameter
from phonesim.tasks.moves import Move, Press, Reveal, Say
from phonesim.tasks.shopping.buying import LONG_AGO, order_of
from phonesim.tasks.shopping.errand import (
    Errand,
    day_of,
    distract,
    empty_cart,
    from_menu,
    offer_of,
    put_on,
    says_count,
    says_dollars,
    to_shop,
    wrong_answer,
)
from phonesim.tasks.shopping.shelves import (
    LISTINGS,
    STORES,
    Listing,
    Store,
)
from phonesim.tasks.template import Template, View
from phonesim.web.basket import (
    COUPONS,
    STATUSES,
    CartItem,
    Order,
    WishItem,
    cart_of,
    wishes_of,
)
from phonesim.web.catalogue import dollars
from phonesim.web.customer import add_order
from phonesim.web.shop_front import banner_title, code_of_the_day


@dataclass(frozen=True)
class AskDeliveryCost(Errand):
    name = "shopping.ask_delivery"
    difficulty = "medium"
    phrasings = (
        "What does express delivery cost at {shop}?",
        "How much does {shop} ask for express delivery?",
        "I am in a hurry: what would {shop_name} charge to deliver by express?",
    )
    store: Store = parameter(STORES)

    def missing(self, start: View, end: View) -> str | None:
        return says_dollars(end, self.store.shop.terms(day_of(start.facts)).express, self.words())

    def solve(self, start: View) -> Iterable[Move]:
        yield from from_menu(start, self.store.shop, "Delivery and returns")
        yield Say(dollars(self.store.shop.terms(day_of(start.facts)).express))


@dataclass(frozen=True)
class AskOrderStatus(Errand):
    name = "shopping.ask_status"
    difficulty = "medium"
    phrasings = (
        "What is the status of my order of the {product} on {shop}?",
        "I ordered the {product} at {shop}. What is the order's status?",
        "Where is my {product} from {shop_name}? Tell me the status of the order",
    )
    item: Listing = parameter(LISTINGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(Order, lambda order: order.lines[0][0] == self.item.product_id)
        add_order(facts, self.item.shop, self.item.product_id, rng, LONG_AGO)

    def missing(self, start: View, end: View) -> str | None:
        status = order_of(start, self.item).status
        right = mentions(end.answer, status, STATUSES)
        return None if right else wrong_answer(end.answer, repr(status))

    def solve(self, start: View) -> Iterable[Move]:
        order = order_of(start, self.item)
        yield from from_menu(start, self.item.shop, "Orders")
        yield Press(f"Order {order.number}")
        yield Say(order.status)


@dataclass(frozen=True)
class AskOrderTotal(Errand):
    name = "shopping.ask_order_total"
    difficulty = "medium"
    held_out = True
    phrasings = (
        "How much did I pay in total for my order of the {product} on {shop}?",
        "What was the total of the order with the {product} at {shop}?",
        "Look up what my {shop_name} order of the {product} cost me altogether",
    )
    item: Listing = parameter(LISTINGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(Order, lambda order: order.lines[0][0] == self.item.product_id)
        quantity = rng.randint(1, 3)
        shop, product = self.item.shop, self.item.product_id
        add_order(facts, shop, product, rng, LONG_AGO, quantity=quantity)

    def missing(self, start: View, end: View) -> str | None:
        return says_dollars(end, order_of(start, self.item).total, self.words())

    def solve(self, start: View) -> Iterable[Move]:
        order = order_of(start, self.item)
        yield from from_menu(start, self.item.shop, "Orders")
        yield Press(f"Order {order.number}")
        yield Say(dollars(order.total))


@dataclass(frozen=True)
class AskCartTotal(Errand):
    name = "shopping.ask_cart_total"
    difficulty = "easy"
    phrasings = (
        "What is the total of my {cart} on {shop}?",
        "How much is everything in my {cart} at {shop} together?",
        "Tell me what everything in the {shop_name} {cart} costs altogether",
    )
    store: Store = parameter(STORES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        shop = self.store.shop
        empty_cart(facts, shop)
        for _ in range(2):
            distract(facts, rng, shop, CartItem)

    def _total(self, start: View) -> int:
        offers = self.store.shop.offers(day_of(start.facts))
        items = cart_of(start.facts, self.store.domain)
        return sum(offers[item.product].price * item.quantity for item in items)

    def missing(self, start: View, end: View) -> str | None:
        return says_dollars(end, self._total(start), self.words())

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_shop(start, self.store.shop)
        yield Press(self.store.shop.cart)
        yield Say(dollars(self._total(start)))


@dataclass(frozen=True)
class AskWishes(Errand):
    name = "shopping.ask_wishes"
    difficulty = "easy"
    held_out = True
    phrasings = (
        "How many things are on my wish list on {shop}?",
        "Count what is on the wish list at {shop}",
        "How many wishes did I save at {shop_name}?",
    )
    store: Store = parameter(STORES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        shop = self.store.shop
        facts.remove_where(WishItem, lambda wish: wish.shop == shop.domain)
        for _ in range(rng.randint(1, 9)):
            distract(facts, rng, shop, WishItem)

    def missing(self, start: View, end: View) -> str | None:
        count = len(wishes_of(start.facts, self.store.domain))
        return says_count(end, count, self.words().values())

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_shop(start, self.store.shop)
        yield Press("Wish list")
        yield Say(str(len(wishes_of(start.facts, self.store.domain))))


@dataclass(frozen=True)
class AskCartQuantity(Errand):
    name = "shopping.ask_cart_quantity"
    difficulty = "easy"
    phrasings = (
        "How many of the {product} are in my {cart} on {shop}?",
        "How many of the {product} did I put into my {cart} at {shop}?",
        "Tell me the quantity of the {product} in the {shop_name} {cart}",
    )
    item: Listing = parameter(LISTINGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        empty_cart(facts, self.item.shop)
        put_on(facts, self.item, CartItem)
        (mine,) = cart_of(facts, self.item.domain)
        facts.edit(mine, quantity=rng.randint(2, 9))
        distract(facts, rng, self.item.shop, CartItem)

    def _quantity(self, start: View) -> int:
        items = cart_of(start.facts, self.item.domain)
        return next(i.quantity for i in items if i.product == self.item.product_id)

    def missing(self, start: View, end: View) -> str | None:
        count = self._quantity(start)
        return says_count(end, count, self.words().values())

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_shop(start, self.item.shop)
        yield Press(self.item.shop.cart)
        yield Reveal(self.item.product.name)
        yield Say(str(self._quantity(start)))


@dataclass(frozen=True)
class AskWishPrice(Errand):
    name = "shopping.ask_wish_price"
    difficulty = "easy"
    phrasings = (
        "The {product} is on my wish list at {shop}. What does it cost?",
        "How much is the {product} that I have on the wish list of {shop}?",
        "Look at my {shop_name} wish list and tell me the price of the {product}",
    )
    item: Listing = parameter(LISTINGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(WishItem, lambda wish: wish.shop == self.item.domain)
        put_on(facts, self.item, WishItem)
        distract(facts, rng, self.item.shop, WishItem)

    def missing(self, start: View, end: View) -> str | None:
        return says_dollars(end, offer_of(start, self.item).price, self.words())

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_shop(start, self.item.shop)
        yield Press("Wish list")
        yield Reveal(self.item.product.name)
        yield Say(dollars(offer_of(start, self.item).price))


@dataclass(frozen=True)
class AskCoupon(Errand):
    name = "shopping.ask_coupon"
    difficulty = "easy"
    phrasings = (
        "Which coupon code does {shop} show on its first page?",
        "There is a code on the home page of {shop}. What is it?",
        "Look at the start page of {shop_name} and tell me the coupon code of the day",
    )
    store: Store = parameter(STORES)

    def missing(self, start: View, end: View) -> str | None:
        code = code_of_the_day(day_of(start.facts))
        return None if mentions(end.answer, code, COUPONS) else wrong_answer(end.answer, code)

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_shop(start, self.store.shop)
        yield Reveal(banner_title(self.store.shop, day_of(start.facts)))
        yield Say(code_of_the_day(day_of(start.facts)))


TEMPLATES: tuple[type[Template], ...] = (
    AskDeliveryCost,
    AskOrderStatus,
    AskOrderTotal,
    AskCartTotal,
    AskWishes,
    AskCartQuantity,
    AskWishPrice,
    AskCoupon,
)
