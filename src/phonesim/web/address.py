"""Addresses of web pages: what stands in the browser's bar and decides what a page shows.

All that a page shows apart from the user's own facts (cart, orders) is in its address: the search
words, the order of the results, the filters, the page number. So an address is all that a judge
needs to know where the browser is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode


@dataclass(frozen=True, slots=True)
class Address:
    """`domain/path?query`. Equal pages have equal addresses: the query is kept in order."""

    domain: str
    path: tuple[str, ...] = ()
    query: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        tail = f"?{urlencode(self.query)}" if self.query else ""
        return "/".join((self.domain, *self.path)) + tail

    def get(self, key: str, default: str = "") -> str:
        return next((value for name, value in self.query if name == key), default)

    def having(self, **values: str | int) -> Address:
        """The same page with some of the query changed; an empty value takes a key away."""
        merged = dict(self.query) | {key: str(value) for key, value in values.items()}
        return replace(self, query=tuple(sorted((k, v) for k, v in merged.items() if v)))


@lru_cache(maxsize=4096)
def parse(text: str) -> Address:
    """The address that a text means, whichever of the usual ways it was written."""
    rest = text.strip()
    for start in ("https://", "http://", "www."):
        rest = rest.removeprefix(start)
    place, _, query = rest.partition("?")
    domain, *path = (part for part in place.split("/"))
    pairs = parse_qsl(query)
    return Address(
        domain.casefold(),
        tuple(part for part in path if part),
        tuple(sorted((key, value) for key, value in pairs if value)),
    )


def page_of(domain: str, *path: str, **query: str | int) -> Address:
    """An address from its parts."""
    return Address(domain, path).having(**query)
