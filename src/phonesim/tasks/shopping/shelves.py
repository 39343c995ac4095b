"""The domains of shopping tasks: products, kinds of products, and pages of the shops.

Each product belongs to one shop here, so that a product kept for testing is named in no training
task. One shop is reserved: it occurs in the split `held_out_apps` only.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from phonesim.tasks.domains import Domain
from phonesim.web.catalogue import Product, lines, products
from phonesim.web.offers import PRICE_BANDS, SORTS
from phonesim.web.product_lines import Line
from phonesim.web.shop import Shop
from phonesim.web.shop_results import band_label
from phonesim.web.shops import HELD_OUT_SHOP, MARLOWE, SHOPS

T = TypeVar("T")
PAIRS = ("shoes", "headphones", "earbuds")


def _with_article(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _shop_words(shop: Shop) -> dict[str, str]:
    return {
        "shop": shop.domain,
        "shop_name": shop.name.title(),
        "cart": shop.cart.lower(),
        "deals": shop.deals.lower(),
    }


@dataclass(frozen=True, slots=True)
class Store:
    """A shop."""

    domain: str

    @property
    def shop(self) -> Shop:
        return SHOPS[self.domain]

    def words(self) -> dict[str, str]:
        return _shop_words(self.shop)


@dataclass(frozen=True, slots=True)
class Listing:
    """A product in a shop. Tasks ask for its last colour and its last choice (of size, say)."""

    domain: str
    product_id: int

    @property
    def shop(self) -> Shop:
        return SHOPS[self.domain]

    @property
    def product(self) -> Product:
        return products()[self.product_id]

    @property
    def colour(self) -> str:
        return self.product.colours[-1].title()

    @property
    def choice(self) -> str:
        return self.product.choices[-1] if self.product.choices else ""

    def words(self) -> dict[str, str]:
        name = self.product.name
        return {
            **_shop_words(self.shop),
            "name": name,
            "product": f"book “{name}”" if self.product.line == "book" else name,
            "colour": self.colour.lower(),
            "option": self.product.option.lower(),
            "choice": self.choice,
        }


@dataclass(frozen=True, slots=True)
class Aisle:
    """A kind of product in a shop; `detail` is a sort order, a filter, or a search query."""

    domain: str
    key: str
    detail: str = ""

    @property
    def shop(self) -> Shop:
        return SHOPS[self.domain]

    @property
    def line(self) -> Line:
        return lines()[self.key]

    def words(self) -> dict[str, str]:
        one = self.line.noun.lower() or "book"
        if one in PAIRS:
            one = f"pair of {one}"
        return {
            **_shop_words(self.shop),
            "many": self.line.title.lower(),
            "one": one,
            "a_one": _with_article(one),
            "detail": self.detail,
        }


@dataclass(frozen=True, slots=True)
class Section:
    """A page of a shop that is not about products."""

    domain: str
    path: str

    @property
    def shop(self) -> Shop:
        return SHOPS[self.domain]

    @property
    def label(self) -> str:
        """The label of the link to this page."""
        labels = {
            "cart": self.shop.cart,
            "wishlist": "Wish list",
            "deals": self.shop.deals,
            "orders": "Orders",
            "account": "Account",
            "help": "Delivery and returns",
            "categories": "All categories",
        }
        return labels[self.path]

    def words(self) -> dict[str, str]:
        said = {
            "cart": f"my {self.shop.cart.lower()}",
            "wishlist": "my wish list",
            "deals": f"the page “{self.shop.deals}”",
            "orders": "my orders",
            "account": "my account",
            "help": "the page about delivery and returns",
            "categories": "the list of all categories",
        }
        return {**_shop_words(self.shop), "section": said[self.path]}


OPEN_SHOPS = tuple(shop for shop in SHOPS.values() if shop is not HELD_OUT_SHOP)


def _home_of(product: Product) -> Shop:
    """Return the shop in which tasks look for a product."""
    carrying = [shop for shop in OPEN_SHOPS if product.id in shop.range]
    return carrying[zlib.crc32(product.name.encode()) % len(carrying)]


def _sold_openly(product: Product) -> bool:
    return any(product.id in shop.range for shop in OPEN_SHOPS)


_LISTINGS = tuple(
    Listing(_home_of(product).domain, product.id)
    for product in products().values()
    if _sold_openly(product)
)
_HELD_LISTINGS = tuple(Listing(HELD_OUT_SHOP.domain, number) for number in HELD_OUT_SHOP.range)


def _aisles(shops: tuple[Shop, ...]) -> tuple[Aisle, ...]:
    return tuple(
        Aisle(shop.domain, kind) for shop in shops for kind in shop.kinds if _many(shop, kind)
    )


def _many(shop: Shop, kind: str) -> bool:
    return sum(products()[number].line == kind for number in shop.range) >= 5


def _detailed(aisles: tuple[Aisle, ...], details: tuple[str, ...]) -> tuple[Aisle, ...]:
    return tuple(Aisle(a.domain, a.key, detail) for a in aisles for detail in details)


def _queries(aisles: tuple[Aisle, ...]) -> tuple[Aisle, ...]:
    """Return search queries as people type them: a brand and a noun."""
    found: list[Aisle] = []
    for aisle in aisles:
        sold = (products()[number] for number in aisle.shop.range)
        brands = sorted({product.brand for product in sold if product.line == aisle.key})
        noun = aisle.line.noun.lower() or "book"
        found.extend(Aisle(aisle.domain, aisle.key, f"{brand} {noun}") for brand in brands)
    return tuple(found)


_AISLES, _HELD_AISLES = _aisles(OPEN_SHOPS), _aisles((HELD_OUT_SHOP,))
_SORTED = tuple(label for label in SORTS.values() if label != "Relevance")
_FILTERS = (*(band_label(low, high) for low, high in PRICE_BANDS), "3 stars and up",
            "4 stars and up", "In stock only")  # fmt: skip
_DIRECT = ("cart", "wishlist")
_FROM_MENU = ("deals", "orders", "account", "help", "categories")


def _sections(shops: tuple[Shop, ...], paths: tuple[str, ...]) -> tuple[Section, ...]:
    return tuple(Section(shop.domain, path) for shop in shops for path in paths)


def _is_free_to_choose(listing: Listing) -> bool:
    return len(listing.product.choices) > 1


def _is_twice_sold(listing: Listing) -> bool:
    return listing.shop is not MARLOWE and listing.product_id in MARLOWE.range


def narrowed(domain: Domain[T], fits: Callable[[T], bool], *, reserved: bool = True) -> Domain[T]:
    """Return a domain with the fitting values only, split as in the original domain."""
    kept = tuple(filter(fits, (*domain.train, *domain.test)))
    narrow = Domain(domain.name, kept, domain.say)
    narrow.train = tuple(filter(fits, domain.train))
    narrow.test = tuple(filter(fits, domain.test))
    narrow.reserved = tuple(filter(fits, domain.reserved)) if reserved else ()
    return narrow


STORES = Domain(
    "shops", tuple(Store(s.domain) for s in OPEN_SHOPS), reserved=(Store(HELD_OUT_SHOP.domain),)
)
LISTINGS = Domain("products", _LISTINGS, reserved=_HELD_LISTINGS)
COLOURED = narrowed(LISTINGS, lambda listing: len(listing.product.colours) > 1)
OPTIONS = narrowed(LISTINGS, _is_free_to_choose)
COLOURED_OPTIONS = narrowed(COLOURED, _is_free_to_choose)
TWICE_SOLD = narrowed(LISTINGS, _is_twice_sold, reserved=False)
AISLES = Domain("aisles", _AISLES, reserved=_HELD_AISLES)
QUERIES = Domain("queries", _queries(_AISLES), reserved=_queries(_HELD_AISLES))
SORTED_AISLES = Domain(
    "sorted aisles", _detailed(_AISLES, _SORTED), reserved=_detailed(_HELD_AISLES, _SORTED)
)
FILTERED_AISLES = Domain(
    "filtered aisles", _detailed(_AISLES, _FILTERS), reserved=_detailed(_HELD_AISLES, _FILTERS)
)
LONG_AISLES = narrowed(AISLES, lambda aisle: aisle.shop is not MARLOWE)
NEAR_SECTIONS = Domain(
    "near sections",
    _sections(OPEN_SHOPS, _DIRECT),
    reserved=_sections((HELD_OUT_SHOP,), _DIRECT),
)
MENU_SECTIONS = Domain(
    "menu sections",
    _sections(OPEN_SHOPS, _FROM_MENU),
    reserved=_sections((HELD_OUT_SHOP,), _FROM_MENU),
)
QUANTITIES = Domain("quantities", (2, 3, 4, 5))
