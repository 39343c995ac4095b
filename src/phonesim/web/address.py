"""Addresses of web pages: what the browser's bar shows and what determines a page.

Everything that a page shows, apart from the user's own facts (cart, orders), is in its address:
search words, sort order, filters, page number. So a judge knows where the browser is from the
address alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode


@dataclass(frozen=True, slots=True)
class Address:
    """`domain/path?query`. The query is sorted, so equal pages have equal addresses."""

    domain: str
    path: tuple[str, ...] = ()
    query: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        tail = f"?{urlencode(self.query)}" if self.query else ""
        return "/".join((self.domain, *self.path)) + tail

    def get(self, key: str, default: str = "") -> str:
        return next((value for name, value in self.query if name == key), default)

    def having(self, **values: str | int) -> Address:
        """Return the address with some query values changed; an empty value removes its key."""
        merged = dict(self.query) | {key: str(value) for key, value in values.items()}
        return replace(self, query=tuple(sorted((k, v) for k, v in merged.items() if v)))


@lru_cache(maxsize=4096)
def parse(text: str) -> Address:
    """Parse an address with or without "https://" and "www."; normalise domain and query."""
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
    """Build an address from its parts."""
    return Address(domain, path).having(**query)
