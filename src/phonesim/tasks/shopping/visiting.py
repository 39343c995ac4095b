"""Tasks of looking around: shops, their pages, searches, sorting and filters."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.facts import Facts
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.differences import only_added
from phonesim.tasks.moves import Fill, Move, Open, Press, Submit
from phonesim.tasks.shopping.errand import (
    Errand,
    day_of,
    from_menu,
    not_at,
    to_product,
    to_results,
    to_shop,
)
from phonesim.tasks.shopping.shelves import (
    AISLES,
    LISTINGS,
    MENU_SECTIONS,
    NEAR_SECTIONS,
    QUERIES,
    STORES,
    Aisle,
    Listing,
    Section,
    Store,
)
from phonesim.tasks.template import Template, View, added
from phonesim.web.address import parse
from phonesim.web.browser_window import ADDRESS_LABEL
from phonesim.web.browsing import Bookmark, Shortcut
from phonesim.web.catalogue import Product
from phonesim.web.offers import Wanted


@dataclass(frozen=True)
class VisitShop(Errand):
    name = "shopping.visit"
    difficulty = "medium"
    phrasings = (
        "Go to {shop}",
        "Open the site {shop} in the browser",
        "Take me to the shop {shop_name} at {shop}",
    )
    store: Store = parameter(STORES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.remove_where(Shortcut, lambda shortcut: shortcut.domain == self.store.domain)

    def missing(self, start: View, end: View) -> str | None:
        return not_at(end, self.store.shop.address())

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_shop(start, self.store.shop)


@dataclass(frozen=True)
class OpenNearSection(Errand):
    name = "shopping.look_in"
    difficulty = "easy"
    phrasings = (
        "Go to {shop} and open {section}",
        "Show me {section} at {shop}",
        "I want to look at {section} on {shop}",
    )
    section: Section = parameter(NEAR_SECTIONS)

    def missing(self, start: View, end: View) -> str | None:
        return not_at(end, self.section.shop.address(self.section.path))

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_shop(start, self.section.shop)
        yield Press(self.section.label)


@dataclass(frozen=True)
class OpenSection(Errand):
    name = "shopping.section"
    difficulty = "medium"
    phrasings = (
        "Go to {shop} and open {section}",
        "On {shop}, show me {section}",
        "Please bring up {section} at {shop}",
    )
    section: Section = parameter(MENU_SECTIONS)

    def missing(self, start: View, end: View) -> str | None:
        return not_at(end, self.section.shop.address(self.section.path))

    def solve(self, start: View) -> Iterable[Move]:
        yield from from_menu(start, self.section.shop, self.section.label)


@dataclass(frozen=True)
class OpenCategory(Errand):
    name = "shopping.category"
    difficulty = "medium"
    phrasings = (
        "Go to {shop} and open the category {many}",
        "Show me the {many} section of {shop}",
        "Browse the category “{many}” at {shop}",
    )
    aisle: Aisle = parameter(AISLES)

    def missing(self, start: View, end: View) -> str | None:
        return not_at(end, self.aisle.shop.address("c", self.aisle.key))

    def solve(self, start: View) -> Iterable[Move]:
        yield from from_menu(start, self.aisle.shop, "All categories")
        yield Press(self.aisle.line.title)


@dataclass(frozen=True)
class Search(Errand):
    name = "shopping.search"
    difficulty = "medium"
    phrasings = (
        'Go to {shop}, search for "{detail}"',
        'Search {shop} for "{detail}"',
        'On {shop}, look up "{detail}"',
        'Look whether {shop} has "{detail}": show me the search results',
    )
    aisle: Aisle = parameter(QUERIES)

    def missing(self, start: View, end: View) -> str | None:
        return not_at(end, self.aisle.shop.address("search", q=self.aisle.detail))

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_results(start, self.aisle.shop, self.aisle.detail)


@dataclass(frozen=True)
class OpenFirstResult(Errand):
    name = "shopping.first_result"
    difficulty = "medium"
    phrasings = (
        'Go to {shop}, search for "{detail}", and select the first entry that is not sponsored',
        'Search for "{detail}" on {shop} and open the first result (ads do not count)',
        'On {shop}, find "{detail}" and open the top result; skip sponsored ones',
    )
    aisle: Aisle = parameter(QUERIES)

    def missing(self, start: View, end: View) -> str | None:
        first = self._first(start)
        return not_at(end, self.aisle.shop.product_address(first))

    def _first(self, start: View) -> Product:
        return self.aisle.shop.find(day_of(start.facts), Wanted(words=self.aisle.detail))[0].product

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_results(start, self.aisle.shop, self.aisle.detail)
        yield Press(self._first(start).name, role="row")


@dataclass(frozen=True)
class OpenProduct(Errand):
    name = "shopping.open_product"
    difficulty = "medium"
    phrasings = (
        "Find the {product} on {shop} and open its page",
        "Go to {shop} and show me the product page of the {product}",
        "Open the {product} in the shop {shop}",
    )
    item: Listing = parameter(LISTINGS)

    def missing(self, start: View, end: View) -> str | None:
        return not_at(end, self.item.shop.product_address(self.item.product))

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_product(start, self.item)


@dataclass(frozen=True)
class BookmarkProduct(Errand):
    name = "shopping.bookmark"
    difficulty = "hard"
    phrasings = (
        "Find the {product} on {shop} and bookmark its page",
        "Add the page of the {product} at {shop} to my bookmarks",
        "I may buy the {product} from {shop} later. Bookmark it in the browser",
    )
    touches = (Bookmark,)
    item: Listing = parameter(LISTINGS)

    def missing(self, start: View, end: View) -> str | None:
        wrong = only_added(start, end, Bookmark)
        if wrong:
            return wrong
        url = added(start, end, Bookmark)[0].url
        wanted, found = self.item.shop.product_address(self.item.product), parse(url)
        right = (found.domain, found.path) == (wanted.domain, wanted.path)
        return None if right else f"the new bookmark is {url}, not {wanted}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_product(start, self.item)
        yield Press("More options")
        yield Press("Bookmark this page")


@dataclass(frozen=True)
class FindOnTheWeb(Errand):
    name = "shopping.web_search"
    difficulty = "medium"
    phrasings = (
        "Search the web for {name} and open the result of {shop_name}",
        'Use the browser to search for "{name}" and pick the link to {shop}',
        "Find the {product} with a web search and go to its page at {shop_name}",
    )
    item: Listing = parameter(LISTINGS)

    def missing(self, start: View, end: View) -> str | None:
        return not_at(end, self.item.shop.product_address(self.item.product))

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Browser")
        yield Fill(ADDRESS_LABEL, self.item.product.name)
        yield Submit()
        yield Press(f"{self.item.product.name} – {self.item.shop.name}", role="row")


TEMPLATES: tuple[type[Template], ...] = (
    VisitShop,
    OpenNearSection,
    OpenSection,
    OpenCategory,
    Search,
    OpenFirstResult,
    OpenProduct,
    BookmarkProduct,
    FindOnTheWeb,
)
