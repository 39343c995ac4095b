"""Tasks with wish lists: put on, take off, move to the cart."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.differences import only_added, only_removed
from phonesim.tasks.moves import Move, Press
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
    LISTINGS,
    STORES,
    Aisle,
    Listing,
    Store,
)
from phonesim.tasks.template import Template, View, added, changed, removed
from phonesim.web.basket import (
    COUPONS,
    CartItem,
    WishItem,
    wishes_of,
)

CODES = Domain("coupon codes", tuple(COUPONS))


@dataclass(frozen=True)
class WishBestRated(Errand):
    name = "shopping.wish_best_rated"
    difficulty = "hard"
    phrasings = (
        "Search for {many} on {shop} and put the best rated one on my wish list",
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
    return only_added(start, end, WishItem, shop=listing.domain, product=listing.product_id)


def _one_wish_less(start: View, end: View, listing: Listing) -> str | None:
    wishes = wishes_of(start.facts, listing.domain)
    wish = next(wish for wish in wishes if wish.product == listing.product_id)
    return only_removed(start, end, WishItem, wish.id)


@dataclass(frozen=True)
class AddToWishList(Errand):
    name = "shopping.add_wish"
    difficulty = "medium"
    phrasings = (
        "Add the {product} to my wish list on {shop}",
        "Put the {product} on the wish list at {shop}",
        "I would love to have the {product} from {shop_name}. Put it on my wish list there",
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
        return _one_wish_less(start, end, self.item)

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
        return found if isinstance(found, str) else _one_wish_less(start, end, self.item)

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
        wishes = wishes_of(start.facts, self.store.domain)
        new = added(start, end, CartItem)
        if sorted(item.product for item in new) != sorted(wish.product for wish in wishes):
            return "the cart did not get exactly what was on the wish list"
        if any(item.shop != self.store.domain or item.quantity != 1 for item in new):
            return "something is in the wrong cart, or there twice"
        if removed(start, end, CartItem) or changed(start, end, CartItem):
            return "something else in a cart was changed"
        return only_removed(start, end, WishItem, *(wish.id for wish in wishes))

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
