"""Every product of the simulated web, generated once from the tables in `product_lines`.

Products are the same on all phones. A shop's price, rating and stock for a product vary by shop
and day: see `offers`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache

from phonesim.web.product_lines import (
    AUTHORS,
    CODES,
    LINES,
    MAKERS,
    TITLES,
    WORDS,
    Line,
)

PER_LINE = 9
CODED = ("Electronics",)  # departments whose models are named by codes rather than words
ONE_COLOUR = ("book", "puzzle", "plant")  # lines without a choice of colour
_RANGE = re.compile(r"\{(\d+)-(\d+)\}")


@dataclass(frozen=True, slots=True)
class Product:
    """A product that shops sell. Prices are cents."""

    id: int
    name: str
    brand: str
    line: str
    colours: tuple[str, ...]
    option: str  # name of a second option ("Size"), or ""
    choices: tuple[str, ...]
    price: int
    rating: int  # tenths of a star
    released: date
    details: tuple[str, ...]
    words: frozenset[str]  # words that a search matches

    @property
    def slug(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.name.casefold()).strip("-")

    def picture(self, colour: str = "") -> str:
        return f"product:{self.line}:{colour or self.colours[0]}:{self.id}"

    @property
    def defaults(self) -> tuple[str, ...]:
        """The options preselected on a product page: the first of each kind."""
        return (self.colours[0].title(), *self.choices[:1])


@cache
def lines() -> Mapping[str, Line]:
    return {line.key: line for line in LINES}


@cache
def products() -> Mapping[int, Product]:
    """Return every product by its id."""
    made: dict[int, Product] = {}
    for row, line in enumerate(LINES):
        rng = random.Random(f"products/{line.key}")
        for place, (brand, name) in enumerate(_names(line, rng)):
            product_id = 1000 + row * 20 + place
            made[product_id] = _product(product_id, line, brand, name, rng)
    return made


@cache
def by_slug() -> Mapping[str, Product]:
    return {product.slug: product for product in products().values()}


def _names(line: Line, rng: random.Random) -> list[tuple[str, str]]:
    if line.key == "book":
        return [(rng.choice(AUTHORS), title) for title in TITLES[:PER_LINE]]
    makers = rng.sample(MAKERS[line.department], 4)
    models = rng.sample(CODES if line.department in CODED else WORDS, PER_LINE)
    chosen = [(makers[i % len(makers)], model) for i, model in enumerate(models)]
    return [(brand, f"{brand} {model} {line.noun}") for brand, model in chosen]


def _product(product_id: int, line: Line, brand: str, name: str, rng: random.Random) -> Product:
    share = rng.random() ** 1.6  # skewed towards cheap products
    dollars = line.low + (line.high - line.low) * share
    text = f"{name} {brand} {line.title} {line.noun} {line.key}"
    return Product(
        id=product_id,
        name=name,
        brand=brand,
        line=line.key,
        colours=_colours(line, rng),
        option=line.option,
        choices=line.choices,
        price=round(dollars) * 100,
        rating=rng.randint(32, 48),
        released=date(rng.randint(2021, 2025), rng.randint(1, 12), rng.randint(1, 28)),
        details=tuple(_RANGE.sub(lambda m: str(_between(m, rng)), d) for d in line.details),
        words=frozenset(words_of(text)),
    )


def _colours(line: Line, rng: random.Random) -> tuple[str, ...]:
    most = 1 if line.key in ONE_COLOUR else min(4, len(line.colours))
    return tuple(rng.sample(line.colours, rng.randint(min(2, most), most)))


def _between(found: re.Match[str], rng: random.Random) -> int:
    number = rng.randint(int(found[1]), int(found[2]))
    return round(number, -1) if number >= 200 else number


def words_of(text: str) -> list[str]:
    """Split a text into search words: lower case, without a plural's s."""
    found: list[str] = re.findall(r"[a-z0-9]+", text.casefold().replace("'", ""))
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in found]


def dollars(cents: int) -> str:
    return f"${cents // 100:,}.{cents % 100:02d}"
