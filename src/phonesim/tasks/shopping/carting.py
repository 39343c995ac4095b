"""Tasks with carts and wish lists: put in, take out, change, move, coupons."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.differences import only_added
from phonesim.tasks.moves import Fill, Move, Press
from phonesim.tasks.shopping.errand import (
    Errand,
    aisle_offers,
    choose_day,
    day_of,
    distract,
    empty_cart,
    in_stock,
    one_new_item,
    sorting,
    take_out,
    to_product,
    to_results,
    to_shop,
)
from phonesim.tasks.shopping.shelves import (
    AISLES,
    COLOURED,
    COLOURED_OPTIONS,
    LISTINGS,
    QUANTITIES,
    STORES,
    Aisle,
    Listing,
    Store,
)
from phonesim.tasks.template import Template, View, added, changed, differing_fields, removed
from phonesim.web.basket import (
    COUPONS,
    AppliedCoupon,
    CartItem,
    cart_of,
)

CODES = Domain("coupon codes", tuple(COUPONS))


class _Adding(Errand):
    """Base class: put an item into the cart. On the day that `prepare` chooses it is in stock."""

    touches = (CartItem,)
    item: Listing

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        choose_day(facts, rng, in_stock(self.item))
        take_out(facts, self.item)


@dataclass(frozen=True)
class AddToCart(_Adding):
    name = "shopping.add_to_cart"
    difficulty = "medium"
    phrasings = (
        "Add the {product} to my {cart} on {shop}",
        "Go to {shop}, find the {product} and put it into the {cart}",
        "Put the {product} from {shop} in the {cart}, please",
        'Search {shop} for "{name}", select it and add it to the {cart}',
    )
    item: Listing = parameter(LISTINGS)

    def missing(self, start: View, end: View) -> str | None:
        found = one_new_item(start, end, self.item)
        return found if isinstance(found, str) else None

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_product(start, self.item)
        yield Press(self.item.shop.add_label)


@dataclass(frozen=True)
class AddColour(_Adding):
    name = "shopping.add_colour"
    difficulty = "hard"
    phrasings = (
        "Add the {product} in {colour} to my {cart} on {shop}",
        "I would like the {product} from {shop} in {colour}. Put it into the {cart}",
        "On {shop}, choose the colour {colour} for the {product} and add it to the {cart}",
    )
    item: Listing = parameter(COLOURED)

    def missing(self, start: View, end: View) -> str | None:
        found = one_new_item(start, end, self.item)
        if isinstance(found, str):
            return found
        wanted = self.item.colour
        return None if found.options[0] == wanted else f"it is {found.options[0]}, not {wanted}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_product(start, self.item)
        yield Press(self.item.colour)
        yield Press(self.item.shop.add_label)


@dataclass(frozen=True)
class AddColourAndOption(_Adding):
    name = "shopping.add_options"
    difficulty = "hard"
    phrasings = (
        "Add the {product} to my {cart} on {shop}: {colour}, {option} {choice}",
        "Put the {product} in {colour} with the {option} {choice} into the {cart} of {shop}",
        "On {shop}, get me the {product}. Colour {colour}, {option} {choice}. The {cart} is enough",
    )
    item: Listing = parameter(COLOURED_OPTIONS)

    def missing(self, start: View, end: View) -> str | None:
        found = one_new_item(start, end, self.item)
        if isinstance(found, str):
            return found
        wanted = (self.item.colour, self.item.choice)
        return None if found.options == wanted else f"it is {found.options}, not {wanted}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_product(start, self.item)
        yield Press(self.item.colour)
        yield Press(self.item.choice)
        yield Press(self.item.shop.add_label)


@dataclass(frozen=True)
class AddSeveral(_Adding):
    name = "shopping.add_several"
    difficulty = "hard"
    phrasings = (
        "Add {quantity} of the {product} to my {cart} on {shop}",
        "I need {quantity} pieces of the {product}. Put them into the {cart} at {shop}",
        "Go to {shop} and put the {product} into the {cart}, quantity {quantity}",
    )
    item: Listing = parameter(LISTINGS)
    quantity: int = parameter(QUANTITIES)

    def missing(self, start: View, end: View) -> str | None:
        found = one_new_item(start, end, self.item, self.quantity)
        return found if isinstance(found, str) else None

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_product(start, self.item)
        for _ in range(self.quantity - 1):
            yield Press("Increase quantity")
        yield Press(self.item.shop.add_label)


@dataclass(frozen=True)
class AddCheapest(Errand):
    name = "shopping.add_cheapest"
    difficulty = "hard"
    phrasings = (
        "Search for {many} on {shop} and add the cheapest to the {cart}",
        "Put the least expensive {one} that {shop} has into my {cart}",
        "Find the cheapest of the {many} at {shop} and add it to my {cart}",
    )
    touches = (CartItem,)
    aisle: Aisle = parameter(AISLES)
    sort = "Price: low to high"

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        choose_day(facts, rng, self._suits)
        empty_cart(facts, self.aisle.shop)

    def _suits(self, day: int) -> bool:
        """Return whether exactly one offer is the cheapest, and it is in stock."""
        first, second = aisle_offers(self.aisle.shop, self.aisle.line, day, "price_up")[:2]
        return first.in_stock and first.price < second.price

    def _wanted(self, start: View) -> Listing:
        day = day_of(start.facts)
        best = aisle_offers(self.aisle.shop, self.aisle.line, day, "price_up")[0]
        return Listing(self.aisle.domain, best.product.id)

    def missing(self, start: View, end: View) -> str | None:
        found = one_new_item(start, end, self._wanted(start))
        return found if isinstance(found, str) else None

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_results(start, self.aisle.shop, self.aisle.line.title.lower())
        yield from sorting(self.aisle.shop, self.sort)
        yield Press(self._wanted(start).product.name, role="row")
        yield Press(self.aisle.shop.add_label)


@dataclass(frozen=True)
class RemoveFromCart(Errand):
    name = "shopping.remove_from_cart"
    difficulty = "medium"
    phrasings = (
        "Remove the {product} from my {cart} on {shop}",
        "I do not want the {product} any more: take it out of the {cart} at {shop}",
        "Take the {product} out of my {shop_name} {cart}, leave the rest",
    )
    touches = (CartItem,)
    item: Listing = parameter(LISTINGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        empty_cart(facts, self.item.shop)
        distract(facts, rng, self.item.shop, CartItem, self.item.product_id)
        options = self.item.product.defaults
        facts.add(CartItem(shop=self.item.domain, product=self.item.product_id, options=options))

    def missing(self, start: View, end: View) -> str | None:
        gone = removed(start, end, CartItem)
        if [(i.shop, i.product) for i in gone] != [(self.item.domain, self.item.product_id)]:
            return f"expected only {self.item.product.name!r} to be gone; {len(gone)} are gone"
        if added(start, end, CartItem) or changed(start, end, CartItem):
            return "something else in a cart was changed"
        return None

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_shop(start, self.item.shop)
        yield Press(self.item.shop.cart)
        yield Press(f"Remove {self.item.product.name}")


@dataclass(frozen=True)
class ChangeQuantity(Errand):
    name = "shopping.change_quantity"
    difficulty = "medium"
    phrasings = (
        "Change the quantity of the {product} in my {cart} on {shop} to {quantity}",
        "In the {cart} of {shop}, make it {quantity} of the {product}",
        "I need {quantity} of the {product} in my {shop_name} {cart}; set the quantity",
    )
    touches = (CartItem,)
    item: Listing = parameter(LISTINGS)
    quantity: int = parameter(QUANTITIES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        empty_cart(facts, self.item.shop)
        near = self.quantity + rng.choice((-2, -1, 1, 2))
        before = near if near > 0 else self.quantity + 1
        options = self.item.product.defaults
        facts.add(
            CartItem(
                shop=self.item.domain,
                product=self.item.product_id,
                options=options,
                quantity=before,
            )
        )
        distract(facts, rng, self.item.shop, CartItem, self.item.product_id)

    def _before(self, view: View) -> CartItem:
        cart = cart_of(view.facts, self.item.domain)
        return next(item for item in cart if item.product == self.item.product_id)

    def missing(self, start: View, end: View) -> str | None:
        if added(start, end, CartItem) or removed(start, end, CartItem):
            return "something was added to a cart or removed"
        pairs = changed(start, end, CartItem)
        if [(old.id, differing_fields(old, new)) for old, new in pairs] != [
            (self._before(start).id, {"quantity"})
        ]:
            return f"the quantity of {self.item.product.name!r} was not changed alone"
        quantity = pairs[0][1].quantity
        return None if quantity == self.quantity else f"there are {quantity}, not {self.quantity}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_shop(start, self.item.shop)
        yield Press(self.item.shop.cart)
        before = self._before(start).quantity
        word = "More" if self.quantity > before else "Fewer"
        for _ in range(abs(self.quantity - before)):
            yield Press(f"{word} {self.item.product.name}")


@dataclass(frozen=True)
class EmptyCart(Errand):
    name = "shopping.empty_cart"
    difficulty = "medium"
    phrasings = (
        "Empty my {cart} on {shop}",
        "Take everything out of the {cart} at {shop}",
        "I will not buy anything at {shop_name} today, so clear my {cart} there",
    )
    touches = (CartItem,)
    store: Store = parameter(STORES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        empty_cart(facts, self.store.shop)
        for _ in range(rng.randint(2, 3)):
            distract(facts, rng, self.store.shop, CartItem)

    def missing(self, start: View, end: View) -> str | None:
        left = cart_of(end.facts, self.store.domain)
        if left:
            return f"the cart of {self.store.domain} still has {len(left)} things"
        gone = removed(start, end, CartItem)
        others = any(item.shop != self.store.domain for item in gone)
        if others or added(start, end, CartItem) or changed(start, end, CartItem):
            return "another cart was changed"
        return None

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_shop(start, self.store.shop)
        yield Press(self.store.shop.cart)
        yield Press(f"Empty {self.store.shop.cart.lower()}")
        yield Press("Empty")


@dataclass(frozen=True)
class UseCoupon(Errand):
    name = "shopping.coupon"
    difficulty = "medium"
    phrasings = (
        "Use the coupon code {code} in my {cart} on {shop}",
        "I have a code for {shop}: {code}. Apply it to the {cart}",
        "Apply the coupon {code} to what is in the {cart} at {shop_name}",
    )
    touches = (AppliedCoupon,)
    item: Listing = parameter(LISTINGS)
    code: str = parameter(CODES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        empty_cart(facts, self.item.shop)
        distract(facts, rng, self.item.shop, CartItem, self.item.product_id)

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, AppliedCoupon, shop=self.item.domain, code=self.code)

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_shop(start, self.item.shop)
        yield Press(self.item.shop.cart)
        yield Fill("Coupon code", self.code)
        yield Press("Apply")


TEMPLATES: tuple[type[Template], ...] = (
    AddToCart,
    AddColour,
    AddColourAndOption,
    AddSeveral,
    AddCheapest,
    RemoveFromCart,
    ChangeQuantity,
    EmptyCart,
    UseCoupon,
)
