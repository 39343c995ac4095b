"""Questions whose answers have to be looked up in the shops."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.facts import Facts
from phonesim.tasks.answers import mentions, states_number
from phonesim.tasks.domains import parameter
from phonesim.tasks.moves import Fill, Move, Press, Reveal, Say, Submit
from phonesim.tasks.shopping.errand import (
    Errand,
    aisle_offers,
    choose_day,
    day_of,
    offer_of,
    says_count,
    says_dollars,
    sorting,
    to_product,
    to_results,
    wrong_answer,
)
from phonesim.tasks.shopping.shelves import (
    AISLES,
    LISTINGS,
    LONG_AISLES,
    TWICE_SOLD,
    Aisle,
    Listing,
)
from phonesim.tasks.template import Template, View
from phonesim.web.browser_window import ADDRESS_LABEL
from phonesim.web.catalogue import dollars
from phonesim.web.day import DAYS
from phonesim.web.offers import Offer, Wanted
from phonesim.web.shops import MARLOWE


@dataclass(frozen=True)
class AskPrice(Errand):
    name = "shopping.ask_price"
    difficulty = "medium"
    phrasings = (
        "How much is the {product} on {shop}?",
        "What does {shop} ask for the {product}?",
        "Look up the price of the {product} at {shop_name} and tell me",
    )
    item: Listing = parameter(LISTINGS)

    def missing(self, start: View, end: View) -> str | None:
        return says_dollars(end, offer_of(start, self.item).price, self.words())

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_product(start, self.item)
        price = dollars(offer_of(start, self.item).price)
        yield Reveal(price)
        yield Say(price)


@dataclass(frozen=True)
class AskRating(Errand):
    name = "shopping.ask_rating"
    difficulty = "medium"
    phrasings = (
        "How many stars does the {product} have on {shop}?",
        "What is the average rating of the {product} at {shop}?",
        "Tell me how customers of {shop_name} rate the {product}",
    )
    item: Listing = parameter(LISTINGS)

    def missing(self, start: View, end: View) -> str | None:
        offer = offer_of(start, self.item)
        question = [*self.words().values(), "5 stars"]
        right = states_number(end.answer, offer.rating / 10, question)
        return None if right else wrong_answer(end.answer, offer.stars)

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_product(start, self.item)
        yield Say(f"{offer_of(start, self.item).stars} stars")


@dataclass(frozen=True)
class AskReviews(Errand):
    name = "shopping.ask_reviews"
    difficulty = "medium"
    held_out = True
    phrasings = (
        "How many reviews does the {product} have on {shop}?",
        "How many customers of {shop} have rated the {product}?",
        "Tell me the number of reviews of the {product} at {shop_name}",
    )
    item: Listing = parameter(LISTINGS)

    def missing(self, start: View, end: View) -> str | None:
        count = offer_of(start, self.item).reviews
        return says_count(end, count, self.words().values())

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_product(start, self.item)
        yield Say(f"{offer_of(start, self.item).reviews} reviews")


@dataclass(frozen=True)
class AskCheapest(Errand):
    name = "shopping.ask_cheapest"
    difficulty = "medium"
    phrasings = (
        "What does the cheapest {one} on {shop} cost?",
        "Search for {many} on {shop}: what is the lowest price?",
        "What is the least that I have to pay for {a_one} at {shop_name}?",
    )
    aisle: Aisle = parameter(AISLES)

    def _cheapest(self, start: View) -> Offer:
        day = day_of(start.facts)
        return aisle_offers(self.aisle.shop, self.aisle.line, day, "price_up")[0]

    def missing(self, start: View, end: View) -> str | None:
        return says_dollars(end, self._cheapest(start).price, self.words())

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_results(start, self.aisle.shop, self.aisle.line.title.lower())
        yield from sorting(self.aisle.shop, "Price: low to high")
        yield Say(dollars(self._cheapest(start).price))


@dataclass(frozen=True)
class AskSoldOut(Errand):
    name = "shopping.ask_sold_out"
    difficulty = "medium"
    phrasings = (
        "One of the {many} on {shop} is sold out. Which one?",
        "Which {one} is sold out at {shop} at the moment?",
        "Look through the {many} at {shop_name} and tell me the one that is sold out",
    )
    aisle: Aisle = parameter(LONG_AISLES)

    def _gone(self, day: int) -> list[str]:
        found = aisle_offers(self.aisle.shop, self.aisle.line, day)
        return [offer.product.name for offer in found if not offer.in_stock]

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        choose_day(facts, rng, self._suits)

    def _suits(self, day: int) -> bool:
        """Return whether exactly one offer is sold out, and it is among the first five."""
        found = aisle_offers(self.aisle.shop, self.aisle.line, day)
        return len(self._gone(day)) == 1 and not all(offer.in_stock for offer in found[:5])

    def missing(self, start: View, end: View) -> str | None:
        day = day_of(start.facts)
        names = [o.product.name for o in aisle_offers(self.aisle.shop, self.aisle.line, day)]
        gone = self._gone(day)[0]
        return None if mentions(end.answer, gone, names) else wrong_answer(end.answer, repr(gone))

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_results(start, self.aisle.shop, self.aisle.line.title.lower())
        gone = self._gone(day_of(start.facts))[0]
        yield Reveal(gone)
        yield Say(gone)


@dataclass(frozen=True)
class AskHowMany(Errand):
    name = "shopping.ask_how_many"
    difficulty = "hard"
    held_out = True
    phrasings = (
        "How many {many} with 4 stars and up does {shop} have?",
        "Search for {many} on {shop}. How many of them are rated 4 stars or better?",
        "Count the {many} at {shop_name} that have at least 4 stars",
    )
    aisle: Aisle = parameter(AISLES)

    def _count(self, day: int) -> int:
        wanted = Wanted(words=self.aisle.line.title.lower(), stars="4")
        return len(self.aisle.shop.find(day, wanted))

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        counts = sorted({count for day in range(DAYS) if (count := self._count(day))})
        wanted = rng.choice(counts)  # every count is equally likely
        choose_day(facts, rng, lambda day: self._count(day) == wanted)

    def missing(self, start: View, end: View) -> str | None:
        count = self._count(day_of(start.facts))
        return says_count(end, count, [*self.words().values(), "4 stars"])

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_results(start, self.aisle.shop, self.aisle.line.title.lower())
        yield Press("Filter")
        yield Press("4 stars and up")
        yield Press("Show results")
        yield Say(str(self._count(day_of(start.facts))))


@dataclass(frozen=True)
class ComparePrices(Errand):
    name = "shopping.compare"
    difficulty = "hard"
    phrasings = (
        "Both {shop} and {second} sell the {product}. What is the lower of the two prices?",
        "Compare the price of the {product} on {shop} and on {second}; tell me the lower one",
        "What is the least I have to pay for the {product}, at {shop} or at {second}?",
    )
    item: Listing = parameter(TWICE_SOLD)

    def words(self) -> dict[str, str]:
        return {**self.item.words(), "second": MARLOWE.domain}

    def _prices(self, start: View) -> tuple[int, int]:
        there = MARLOWE.offers(day_of(start.facts))[self.item.product_id]
        return offer_of(start, self.item).price, there.price

    def missing(self, start: View, end: View) -> str | None:
        return says_dollars(end, min(self._prices(start)), self.words())

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_results(start, self.item.shop, self.item.product.name)
        yield Fill(ADDRESS_LABEL, MARLOWE.domain)
        yield Submit()
        yield Fill(MARLOWE.search_label, self.item.product.name)
        yield Submit()
        yield Say(dollars(min(self._prices(start))))


TEMPLATES: tuple[type[Template], ...] = (
    AskPrice,
    AskRating,
    AskReviews,
    AskCheapest,
    AskSoldOut,
    AskHowMany,
    ComparePrices,
)
