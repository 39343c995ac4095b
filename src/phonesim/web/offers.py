"""The shops' offers on a given day, and the search over them.

An offer is one product in one shop on one day. Offers are computed once for each day and shop and
cached; searches are cached, too, so drawing a page of results costs nothing.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from phonesim.web.catalogue import Product, lines, products, words_of

ROUNDINGS = (0, 50, 90, 95, 99)  # cents at the end of a price
SORTS = {
    "": "Relevance",
    "price_up": "Price: low to high",
    "price_down": "Price: high to low",
    "rating": "Best rated",
    "newest": "Newest",
}
PRICE_BANDS = ((0, 25), (25, 50), (50, 100), (100, 250), (250, 9999))  # dollars


@dataclass(frozen=True, slots=True)
class Offer:
    """A product in a shop on a day. Prices are cents; ratings are tenths of a star."""

    product: Product
    price: int
    was: int  # the price before the reduction, or 0
    rating: int
    reviews: int
    in_stock: bool
    rank: int  # the shop's default order; lower comes first

    @property
    def stars(self) -> str:
        return f"{self.rating / 10:.1f}"


@dataclass(frozen=True, slots=True)
class Terms:
    """A shop's delivery fees on a day, in cents."""

    standard: int
    express: int
    days: int  # of a standard delivery


@dataclass(frozen=True, slots=True)
class Wanted:
    """A search: the words, filters and sort order of a page of results."""

    words: str = ""
    line: str = ""
    department: str = ""
    sort: str = ""
    brand: str = ""
    colour: str = ""
    price: str = ""  # "25-50", in dollars
    stars: str = ""  # "4": four stars or more
    in_stock: bool = False
    reduced: bool = False


@lru_cache(maxsize=512)
def offers(shop: str, day: int, carried: tuple[int, ...]) -> Mapping[int, Offer]:
    """Return all offers of a shop on a day by product id. `carried` are the ids of its range."""
    rng = random.Random(f"offers/{shop}/{day}")
    return {product_id: _offer(products()[product_id], rng) for product_id in carried}


def _offer(product: Product, rng: random.Random) -> Offer:
    whole = max(4, round(product.price * rng.uniform(0.8, 1.2) / 100))
    price = whole * 100 - 100 + rng.choice(ROUNDINGS)
    reduced = rng.random() < 0.25
    return Offer(
        product=product,
        price=price,
        was=round(price * rng.uniform(1.15, 1.5) / 100) * 100 if reduced else 0,
        rating=min(49, max(28, product.rating + rng.randint(-4, 4))),
        reviews=rng.randint(3, 2400),
        in_stock=rng.random() < 0.88,
        rank=rng.randrange(1 << 30),
    )


@lru_cache(maxsize=512)
def terms(shop: str, day: int) -> Terms:
    rng = random.Random(f"terms/{shop}/{day}")
    standard = rng.randrange(250, 700, 10)
    return Terms(standard, standard + rng.randrange(300, 900, 10), rng.randint(2, 6))


def carried(shop: str, kinds: tuple[str, ...], share: float) -> tuple[int, ...]:
    """Return the ids of a shop's range: a fixed share of the products of its lines, by hash."""
    return tuple(
        product.id
        for product in products().values()
        if product.line in kinds
        and zlib.crc32(f"{shop}/{product.name}".encode()) % 1000 < share * 1000
    )


@lru_cache(maxsize=4096)
def find(shop: str, day: int, range_of: tuple[int, ...], wanted: Wanted) -> tuple[Offer, ...]:
    """Return the matching offers, best first."""
    everything = offers(shop, day, range_of).values()
    fitting = [offer for offer in everything if _fits(offer, wanted)]
    scores = {offer.product.id: _score(offer.product, wanted.words) for offer in fitting}
    best = max(scores.values(), default=0.0)
    if wanted.words:  # all words if some product has them all, else the best match
        least = 1.0 if best >= 1.0 else best if best > 0.0 else 2.0
        fitting = [offer for offer in fitting if scores[offer.product.id] >= least]
    fitting.sort(key=lambda offer: (-scores[offer.product.id], offer.rank))
    return tuple(_sorted(fitting, wanted.sort))


def _fits(offer: Offer, wanted: Wanted) -> bool:
    product = offer.product
    low, _, high = wanted.price.partition("-")
    return (
        (not wanted.line or product.line == wanted.line)
        and (not wanted.department or lines()[product.line].department == wanted.department)
        and (not wanted.brand or product.brand == wanted.brand)
        and (not wanted.colour or wanted.colour in product.colours)
        and (not low.isdecimal() or offer.price >= int(low) * 100)
        and (not high.isdecimal() or offer.price <= int(high) * 100)
        and (not wanted.stars.isdecimal() or offer.rating >= int(wanted.stars) * 10)
        and (not wanted.in_stock or offer.in_stock)
        and (not wanted.reduced or offer.was > 0)
    )


def _score(product: Product, text: str) -> float:
    """Return the share of words that the product has, plus 1 if they are exactly its name."""
    words = words_of(text)
    if not words:
        return 0.0
    found = sum(word in product.words for word in words) / len(words)
    return found + (1.0 if words == words_of(product.name) else 0.0)


def _sorted(found: list[Offer], sort: str) -> list[Offer]:
    match sort:
        case "price_up":
            return sorted(found, key=lambda offer: offer.price)
        case "price_down":
            return sorted(found, key=lambda offer: -offer.price)
        case "rating":
            return sorted(found, key=lambda offer: (-offer.rating, -offer.reviews))
        case "newest":
            return sorted(found, key=lambda offer: -offer.product.released.toordinal())
        case _:
            return found
