"""Shared parts of shopping templates: a base class, preparation, moves to a shop, and judges."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import ClassVar

from distrl.records import Family
from phonesim.facts import Facts
from phonesim.tasks.answers import states_number
from phonesim.tasks.domains import domain_of
from phonesim.tasks.general.tolerance import same_text
from phonesim.tasks.moves import Fill, Move, Open, Press, Submit
from phonesim.tasks.shopping.shelves import Listing
from phonesim.tasks.structured_answers import states_quantity
from phonesim.tasks.template import Template, View, added, changed, removed
from phonesim.web.address import Address, parse
from phonesim.web.basket import CartItem, WishItem
from phonesim.web.browser_window import ADDRESS_LABEL
from phonesim.web.browsing import Shortcut
from phonesim.web.catalogue import dollars
from phonesim.web.day import DAYS, WebDay
from phonesim.web.offers import SORTS, Offer, Wanted
from phonesim.web.product_lines import Line
from phonesim.web.shop import Shop

NARROWING = ("sort", "price", "stars", "stock", "brand")  # change a search's results


class Errand(Template):
    """Base class of shopping templates. Parameters that have `words` provide their own texts."""

    family: ClassVar[Family] = "shopping"
    apps: ClassVar[tuple[str, ...]] = ("Browser",)

    def words(self) -> dict[str, str]:
        said: dict[str, str] = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if hasattr(value, "words"):
                said.update(value.words())
            else:
                said[field.name] = domain_of(field).say(value)
        return said


# The day and the stock -------------------------------------------------------------------------


def offer_of(view: View, listing: Listing) -> Offer:
    return listing.shop.offers(day_of(view.facts))[listing.product_id]


def day_of(facts: Facts) -> int:
    return facts.one(WebDay).number


def choose_day(facts: Facts, rng: random.Random, test: Callable[[int], bool]) -> None:
    """Set the phone's web to a random day that passes `test`; raise `ValueError` if none does."""
    days = [day for day in range(DAYS) if test(day)]
    if not days:
        raise ValueError("no day of the web suits this task")
    facts.change(WebDay, number=rng.choice(days))


def in_stock(listing: Listing) -> Callable[[int], bool]:
    return lambda day: listing.shop.offers(day)[listing.product_id].in_stock


def aisle_offers(shop: Shop, line: Line, day: int, sort: str = "") -> tuple[Offer, ...]:
    """Return the offers for a kind of product, as a search for it lists them."""
    return shop.find(day, Wanted(words=line.title.lower(), sort=sort))


def take_out(facts: Facts, listing: Listing) -> None:
    """Make sure that the product is neither in the cart nor on the wish list."""
    shop, product = listing.domain, listing.product_id
    facts.remove_where(CartItem, lambda i: (i.shop, i.product) == (shop, product))
    facts.remove_where(WishItem, lambda i: (i.shop, i.product) == (shop, product))


def empty_cart(facts: Facts, shop: Shop) -> None:
    facts.remove_where(CartItem, lambda item: item.shop == shop.domain)


def distract(
    facts: Facts,
    rng: random.Random,
    shop: Shop,
    kind: type[CartItem | WishItem],
    never: int | None = None,
) -> Listing:
    """Put a random other product than `never` in the shop's cart or on its wish list; return it."""
    there = {item.product for item in facts.all(kind) if item.shop == shop.domain} | {never}
    other = Listing(shop.domain, rng.choice([n for n in shop.range if n not in there]))
    put_on(facts, other, kind)
    return other


def put_on(facts: Facts, listing: Listing, kind: type[CartItem | WishItem]) -> None:
    """Put the product, with its default options, in the cart or on the wish list."""
    shop, product = listing.domain, listing.product_id
    if kind is CartItem:
        facts.add(CartItem(shop=shop, product=product, options=listing.product.defaults))
    else:
        facts.add(WishItem(shop=shop, product=product))


# Moves -----------------------------------------------------------------------------------------


def to_shop(start: View, shop: Shop) -> Iterator[Move]:
    """Yield the moves to a shop: by its shortcut, or by its address if it has none."""
    yield Open("Browser")
    if any(shortcut.domain == shop.domain for shortcut in start.all(Shortcut)):
        yield Press(shop.name, role="button")
    else:
        yield Fill(ADDRESS_LABEL, shop.domain)
        yield Submit()


def to_results(start: View, shop: Shop, words: str) -> Iterator[Move]:
    yield from to_shop(start, shop)
    yield Fill(shop.search_label, words)
    yield Submit()


def to_product(start: View, listing: Listing) -> Iterator[Move]:
    yield from to_results(start, listing.shop, listing.product.name)
    yield Press(listing.product.name, role="row")


def sorting(shop: Shop, label: str) -> Iterator[Move]:
    if shop.style.sort == "sheet":
        yield Press("Sort")
    yield Press(label)


def from_menu(start: View, shop: Shop, label: str) -> Iterator[Move]:
    yield from to_shop(start, shop)
    yield Press("Menu")
    yield Press(label)


# Judges ----------------------------------------------------------------------------------------


def address_of(view: View) -> Address | None:
    """Return the browser's address; None if it is not in front or shows no page."""
    if view.app != "Browser" or view.page != "site":
        return None
    return parse(str(view.args[0]))


def not_at(view: View, wanted: Address) -> str | None:
    """Return None if the browser shows that page with just that sorting and filtering; else why."""
    here = address_of(view)
    if here is None:
        return "the browser does not show a page"
    if (here.domain, here.path) != (wanted.domain, wanted.path):
        return f"the browser shows {here}, not {wanted}"
    for key, value in wanted.query:
        if not same_text(here.get(key), value):
            return f"the page has {key}={here.get(key)!r}, not {value!r}"
    asked = {key for key, _ in wanted.query}
    extra = [key for key in NARROWING if key not in asked and here.get(key)]
    return f"the results are narrowed by {', '.join(extra)} as well" if extra else None


def sort_key(label: str) -> str:
    return next(key for key, name in SORTS.items() if name == label)


def one_new_item(start: View, end: View, listing: Listing, quantity: int = 1) -> CartItem | str:
    """Return the one thing that was added to the cart; else what is wrong."""
    new = added(start, end, CartItem)
    if len(new) != 1 or removed(start, end, CartItem) or changed(start, end, CartItem):
        return f"expected one new thing in the cart and the rest as it was; {len(new)} are new"
    item = new[0]
    if (item.shop, item.product) != (listing.domain, listing.product_id):
        return f"{listing.product.name!r} is not in the cart of {listing.domain}"
    return item if item.quantity == quantity else f"there are {item.quantity}, not {quantity}"


def wrong_answer(said: str | None, expected: object) -> str:
    return f"the answer is {said!r}; expected {expected}"


def says_count(end: View, count: int, question: Iterable[str]) -> str | None:
    right = states_number(end.answer, count, question)
    return None if right else wrong_answer(end.answer, count)


def says_dollars(end: View, cents: int, question: Mapping[str, str]) -> str | None:
    """Return None if the answer is this price (numbers in `question` may be repeated); else why."""
    said, price = end.answer, cents / 100
    right = states_number(said, price, question.values()) or states_quantity(said, price, "$")
    return None if right else wrong_answer(end.answer, dollars(cents))
