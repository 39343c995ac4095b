"""Tasks with results: sort them, filter them, see more of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.tasks.domains import parameter
from phonesim.tasks.moves import Move, Press
from phonesim.tasks.shopping.errand import (
    Errand,
    aisle_offers,
    day_of,
    not_at,
    sort_key,
    sorting,
    to_results,
)
from phonesim.tasks.shopping.shelves import (
    AISLES,
    FILTERED_AISLES,
    LONG_AISLES,
    QUERIES,
    SORTED_AISLES,
    Aisle,
)
from phonesim.tasks.template import Template, View
from phonesim.web.catalogue import Product
from phonesim.web.offers import PRICE_BANDS
from phonesim.web.shop_results import band_label


@dataclass(frozen=True)
class SortResults(Errand):
    name = "shopping.sort"
    difficulty = "medium"
    phrasings = (
        "Search for {many} on {shop} and sort them by “{detail}”",
        "On {shop}, search for {many}, then have the results sorted: {detail}",
        "Go to {shop}, look for {many} and use the sorting “{detail}”",
    )
    aisle: Aisle = parameter(SORTED_AISLES)

    def missing(self, start: View, end: View) -> str | None:
        words, sort = self.aisle.line.title, sort_key(self.aisle.detail)
        return not_at(end, self.aisle.shop.address("search", q=words, sort=sort))

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_results(start, self.aisle.shop, self.aisle.line.title.lower())
        yield from sorting(self.aisle.shop, self.aisle.detail)


def filter_query(label: str) -> dict[str, str]:
    """Return the query parameters that a filter adds to the address."""
    for low, high in PRICE_BANDS:
        if band_label(low, high) == label:
            return {"price": f"{low}-{high}"}
    return {"stock": "1"} if label == "In stock only" else {"stars": label[0]}


@dataclass(frozen=True)
class FilterResults(Errand):
    name = "shopping.filter"
    difficulty = "hard"
    phrasings = (
        "Search for {many} on {shop} and filter them: {detail}",
        "On {shop}, search for {many} and narrow the results with the filter “{detail}”",
        "Go to {shop}, look for {many}, then set the filter “{detail}”",
    )
    aisle: Aisle = parameter(FILTERED_AISLES)

    def missing(self, start: View, end: View) -> str | None:
        query = {"q": self.aisle.line.title, **filter_query(self.aisle.detail)}
        return not_at(end, self.aisle.shop.address("search", **query))

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_results(start, self.aisle.shop, self.aisle.line.title.lower())
        yield Press("Filter")
        yield Press(self.aisle.detail)
        yield Press("Show results")


@dataclass(frozen=True)
class FilterByBrand(Errand):
    name = "shopping.filter_brand"
    difficulty = "hard"
    held_out = True
    phrasings = (
        "Search for {many} on {shop} and filter the results to the brand {brand}",
        "On {shop}, search for {many} and show only what {brand} makes, with the brand filter",
        "Go to {shop}, look for {many}, and set the brand filter to {brand}",
    )
    aisle: Aisle = parameter(QUERIES)

    @property
    def brand(self) -> str:
        return self.aisle.detail.removesuffix(f" {self.aisle.line.noun.lower() or 'book'}")

    def words(self) -> dict[str, str]:
        return {**self.aisle.words(), "brand": self.brand}

    def missing(self, start: View, end: View) -> str | None:
        words = self.aisle.line.title
        return not_at(end, self.aisle.shop.address("search", q=words, brand=self.brand))

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_results(start, self.aisle.shop, self.aisle.line.title.lower())
        yield Press("Filter")
        yield Press(self.brand)
        yield Press("Show results")


@dataclass(frozen=True)
class SecondPage(Errand):
    name = "shopping.second_page"
    difficulty = "hard"
    held_out = True
    phrasings = (
        "Search for {many} on {shop} and go on to more results than the first page shows",
        "On {shop}, search for {many} and go to the second page of results",
        "Go to {shop}, look for {many} and load the next results after the first ones",
    )
    aisle: Aisle = parameter(LONG_AISLES)

    def missing(self, start: View, end: View) -> str | None:
        return not_at(end, self.aisle.shop.address("search", q=self.aisle.line.title, page=2))

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_results(start, self.aisle.shop, self.aisle.line.title.lower())
        yield Press("Show more" if self.aisle.shop.style.paging == "more" else "Next page")


@dataclass(frozen=True)
class OpenNewest(Errand):
    name = "shopping.newest"
    difficulty = "hard"
    phrasings = (
        "Search for {many} on {shop} and open the newest one",
        "Which {one} came out last? Search for {many} on {shop} and open that product",
        "On {shop}, look for {many}, and show me the page of the most recent product",
    )
    aisle: Aisle = parameter(AISLES)

    def _newest(self, start: View) -> Product:
        day = day_of(start.facts)
        return aisle_offers(self.aisle.shop, self.aisle.line, day, "newest")[0].product

    def missing(self, start: View, end: View) -> str | None:
        return not_at(end, self.aisle.shop.product_address(self._newest(start)))

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_results(start, self.aisle.shop, self.aisle.line.title.lower())
        yield from sorting(self.aisle.shop, "Newest")
        yield Press(self._newest(start).name, role="row")


TEMPLATES: tuple[type[Template], ...] = (
    SortResults,
    FilterResults,
    FilterByBrand,
    SecondPage,
    OpenNewest,
)
