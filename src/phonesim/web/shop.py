"""A shop: its range, its style, and the addresses of its pages.

The pages are drawn in `shop_front`, `shop_product`, `shop_checkout` and `shop_account`; the six
shops are defined in `shops`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from phonesim.drawing.colors import Color
from phonesim.web.address import Address, page_of
from phonesim.web.catalogue import Product, lines, products
from phonesim.web.offers import Offer, Terms, Wanted, carried, find, offers, terms


@dataclass(frozen=True, slots=True)
class Style:
    """The look of a shop. The phone's theme inverts some choices (see `header` and `home`)."""

    header: Literal["solid", "plain", "centred"]
    cards: Literal["grid", "list", "tall", "wide", "trio"]
    sort: Literal["sheet", "chips"]
    paging: Literal["pages", "more"]
    buy_at_foot: bool
    search_icon: bool  # an icon in place of a search field in the header
    per_page: int
    home: tuple[str, ...]  # sections of its first page, from the top
    paper: Color = (255, 255, 255)
    dark_too: bool = False


@dataclass(frozen=True, slots=True)
class Shop:
    """A shop of the web."""

    domain: str
    name: str
    tagline: str
    icon: str
    color: Color
    kinds: tuple[str, ...]  # keys of the product lines it sells
    share: float  # share of those lines' products that it carries
    style: Style
    search_label: str
    cart: str = "Cart"  # what the shop calls its cart
    deals: str = "Deals"

    @property
    def add_label(self) -> str:
        return f"Add to {self.cart.lower()}"

    @property
    def range(self) -> tuple[int, ...]:
        return _range_of(self)

    def address(self, *path: str, **query: str | int) -> Address:
        return page_of(self.domain, *path, **query)

    def product_address(self, product: Product) -> Address:
        return self.address("p", product.slug)

    def offers(self, day: int) -> Mapping[int, Offer]:
        return offers(self.domain, day, self.range)

    def find(self, day: int, wanted: Wanted) -> tuple[Offer, ...]:
        return find(self.domain, day, self.range, wanted)

    def terms(self, day: int) -> Terms:
        return terms(self.domain, day)

    def departments(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(lines()[kind].department for kind in self.kinds))

    def wanted_at(self, address: Address) -> Wanted:
        """Return the search that a results address stands for."""
        kind, name = (*address.path, "", "")[:2]
        return Wanted(
            words=address.get("q"),
            line=name if kind == "c" else "",
            sort=address.get("sort"),
            brand=address.get("brand"),
            colour=address.get("colour"),
            price=address.get("price"),
            stars=address.get("stars"),
            in_stock=bool(address.get("stock")),
            reduced=kind == "deals",
        )


@cache
def _range_of(shop: Shop) -> tuple[int, ...]:
    return carried(shop.domain, shop.kinds, shop.share)


def product_of(product_id: int) -> Product:
    return products()[product_id]
