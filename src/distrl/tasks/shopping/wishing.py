"""Tasks with wish lists: put on, take off, move to the cart."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from distrl.devices.simulated.facts import Facts
from distrl.devices.simulated.web.basket import (
    COUPONS,
    CartItem,
    WishItem,
    wishes_of,
)
from distrl.tasks.domains import Domain, parameter
from distrl.tasks.moves import Move, Press
from distrl.tasks.shopping.errand import (
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
from distrl.tasks.shopping.shelves import (
    AISLES,
    LISTINGS,
    STORES,
    Aisle,
    Listing,
    Store,
)
from distrl.tasks.template import Template, View, added, removed

CODES = Domain("coupon codes", tuple(COUPONS))


@dataclass(frozen=True)
class WishBestRated(Errand):
    name = "shopping.wish_best_rated"
    difficulty = "hard"
    phrasings = (
        "Search for {many} on {shop} and put the best rated on my wish list",
        "Which {one} do customers of {shop} rate best? Add it to the wish list",
        "Find the {one} with the most stars at {shop} and add it to my wish list",
    )
    touches = (WishItem,)
    aisle: Aisle = parameter(AISLES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        choose_day(facts, rng, self._suits)
        facts.remove_where(WishItem, lambda wish: wish.shop == self.aisle.domain)

    def _suits(self, day: int) -> bool:
        first, second = aisle_offers(self.aisle.shop, self.aisle.line, day, "rating")[:2]
        return first.rating > second.rating

    def _wanted(self, start: View) -> Listing:
        day = day_of(start.facts)
        best = aisle_offers(self.aisle.shop, self.aisle.line, day, "rating")[0]
        return Listing(self.aisle.domain, best.product.id)

    def missing(self, start: View, end: View) -> str | None:
        return _one_new_wish(start, end, self._wanted(start))

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_results(start, self.aisle.shop, self.aisle.line.title.lower())
        yield from sorting(self.aisle.shop, "Best rated")
        yield Press(self._wanted(start).product.name, role="row")
        yield Press("Add to wish list")


def _one_new_wish(start: View, end: View, listing: Listing) -> str | None:
    new = added(start, end, WishItem)
    if len(new) != 1 or removed(start, end, WishItem):
        return f"expected one new wish and the others as they were; {len(new)} are new"
    if (new[0].shop, new[0].product) != (listing.domain, listing.product_id):
        return f"{listing.product.name!r} is not on the wish list of {listing.domain}"
    return None


@dataclass(frozen=True)
class AddToWishList(Errand):
    name = "shopping.add_wish"
    difficulty = "medium"
    phrasings = (
        "Add the {product} to my wish list on {shop}",
        "Put the {product} on the wish list at {shop}",
        "I wish for the {product} from {shop_name}. Please note it on my wish list there",
    )
    touches = (WishItem,)
    item: Listing = parameter(LISTINGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        take_out(facts, self.item)

    def missing(self, start: View, end: View) -> str | None:
        return _one_new_wish(start, end, self.item)

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_product(start, self.item)
        yield Press("Add to wish list")


@dataclass(frozen=True)
class RemoveFromWishList(Errand):
    name = "shopping.remove_wish"
    difficulty = "medium"
    held_out = True
    phrasings = (
        "Remove the {product} from my wish list on {shop}",
        "Take the {product} off the wish list at {shop}",
        "I got the {product} as a present, so delete it from my {shop_name} wish list",
    )
    touches = (WishItem,)
    item: Listing = parameter(LISTINGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        take_out(facts, self.item)
        distract(facts, rng, self.item.shop, WishItem, self.item.product_id)
        facts.add(WishItem(shop=self.item.domain, product=self.item.product_id))

    def missing(self, start: View, end: View) -> str | None:
        gone = [(wish.shop, wish.product) for wish in removed(start, end, WishItem)]
        if gone != [(self.item.domain, self.item.product_id)] or added(start, end, WishItem):
            return f"expected only {self.item.product.name!r} to be gone; {len(gone)} are gone"
        return None

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_shop(start, self.item.shop)
        yield Press("Wish list")
        yield Press(f"Remove {self.item.product.name}")


@dataclass(frozen=True)
class WishToCart(Errand):
    name = "shopping.wish_to_cart"
    difficulty = "medium"
    phrasings = (
        "Move the {product} from my wish list to the {cart} on {shop}",
        "The {product} is on my wish list at {shop}. Move it to the {cart}",
        "Time to treat myself: move the {product} from the {shop_name} wish list to the {cart}",
    )
    touches = (CartItem, WishItem)
    item: Listing = parameter(LISTINGS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        choose_day(facts, rng, in_stock(self.item))
        take_out(facts, self.item)
        distract(facts, rng, self.item.shop, WishItem, self.item.product_id)
        facts.add(WishItem(shop=self.item.domain, product=self.item.product_id))

    def missing(self, start: View, end: View) -> str | None:
        found = one_new_item(start, end, self.item)
        if isinstance(found, str):
            return found
        gone = [(wish.shop, wish.product) for wish in removed(start, end, WishItem)]
        if gone != [(self.item.domain, self.item.product_id)] or added(start, end, WishItem):
            return f"expected only {self.item.product.name!r} to leave the wish list"
        return None

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_shop(start, self.item.shop)
        yield Press("Wish list")
        yield Press(f"Move {self.item.product.name} to {self.item.shop.cart.lower()}")


@dataclass(frozen=True)
class AllWishesToCart(Errand):
    name = "shopping.all_wishes_to_cart"
    difficulty = "medium"
    phrasings = (
        "Move everything on my wish list at {shop} to the {cart}",
        "Put all my wishes on {shop} into the {cart}, so that the wish list is empty",
        "Grant me everything I wished for at {shop_name}: wish list to {cart}",
    )
    touches = (CartItem, WishItem)
    store: Store = parameter(STORES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        shop = self.store.shop
        facts.remove_where(WishItem, lambda wish: wish.shop == shop.domain)
        empty_cart(facts, shop)
        offers = shop.offers(day_of(facts))
        ready = [number for number, offer in offers.items() if offer.in_stock]
        for number in rng.sample(ready, 2):
            facts.add(WishItem(shop=shop.domain, product=number))

    def missing(self, start: View, end: View) -> str | None:
        if wishes_of(end.facts, self.store.domain):
            return f"the wish list of {self.store.domain} is not empty"
        wishes = sorted(wish.product for wish in wishes_of(start.facts, self.store.domain))
        new = added(start, end, CartItem)
        if sorted(item.product for item in new) != wishes:
            return "the cart did not get exactly what was on the wish list"
        if any(item.shop != self.store.domain or item.quantity != 1 for item in new):
            return "something is in the wrong cart, or there twice"
        gone = removed(start, end, WishItem)
        if any(wish.shop != self.store.domain for wish in gone) or removed(start, end, CartItem):
            return "something else was removed"
        return None

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_shop(start, self.store.shop)
        yield Press("Wish list")
        for wish in wishes_of(start.facts, self.store.domain):
            name = Listing(wish.shop, wish.product).product.name
            yield Press(f"Move {name} to {self.store.shop.cart.lower()}")


TEMPLATES: tuple[type[Template], ...] = (
    WishBestRated,
    AddToWishList,
    RemoveFromWishList,
    WishToCart,
    AllWishesToCart,
)
