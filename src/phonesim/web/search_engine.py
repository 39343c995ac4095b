"""Finch, the search engine: a page of links to any site, article or offer of the web."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from phonesim.drawing.colors import Color
from phonesim.drawing.theme import Theme
from phonesim.toolkit.boxes import Card, Column, Pad, Row, Space
from phonesim.toolkit.controls import Chip
from phonesim.toolkit.modals import Dialog, Menu, Sheet
from phonesim.toolkit.texts import Icon, Text
from phonesim.toolkit.widget import Widget
from phonesim.web.address import Address, page_of
from phonesim.web.bands import Band, Link
from phonesim.web.catalogue import lines, words_of
from phonesim.web.offers import Wanted
from phonesim.web.readings import ALMANAC, HARBOUR_POST, ReadingSite
from phonesim.web.shops import SHOPS
from phonesim.web.site import SitePage, Visit, site_theme

MOST = 10
SEARCH_LABEL = "Search with Finch"


@dataclass(frozen=True, slots=True)
class Found:
    """One search result."""

    title: str
    address: Address
    snippet: str
    score: float


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """The search engine's site."""

    domain: str = "finch.search"
    name: str = "Finch"
    icon: str = "search"
    color: Color = (38, 110, 196)

    def look(self, phone_theme: Theme) -> Theme:
        return site_theme(phone_theme, self.color, dark_too=True)

    def title(self, address: Address) -> str:
        words = address.get("q")
        return f"{words} – {self.name}" if words else self.name

    def address(self, words: str) -> Address:
        return page_of(self.domain, "search", q=words)

    def window(self, visit: Visit, name: str) -> Dialog | Menu | Sheet:
        return visit.ui.sheet(self.name, {"Home": visit.opening(page_of(self.domain))})

    def page(self, visit: Visit) -> SitePage:
        words = visit.address.get("q")

        def search() -> None:
            wanted = visit.ui.text("query").strip()
            if wanted:
                visit.open(self.address(wanted), query=wanted)

        field = visit.ui.field("query", SEARCH_LABEL, on_submit=search, icon="search")
        if not words:
            logo = Text(self.name, "headline", "primary", align="centre")
            body: list[Widget] = [Space(90), Pad(logo), Pad(field, sides=20)]
            return SitePage(body)
        head = Band(Pad(field, sides=12, top=2, bottom=2), line=True)
        return SitePage(self._results(visit, words), head)

    def _results(self, visit: Visit, words: str) -> list[Widget]:
        found = look_up(words, visit.day)
        scopes: list[Widget] = [
            Chip("All", lambda: None, selected=True),
            Chip("Shops", visit.opening(self.address(f"{words} shop"))),
            Chip("Articles", visit.opening(self.address(f"{words} almanac"))),
        ]
        body: list[Widget] = [Pad(Row(scopes, gap=6), sides=12, bottom=2)]
        if visit.ui.uniform("ad", "finch", words) < visit.ui.ad_rate:
            body.append(self._advertisement(visit, words))
        body.extend(self._link(visit, one) for one in found)
        if not found:
            body.append(
                Pad(Text(f"Nothing found for “{words}”. Try other words.", "body", "muted"))
            )
        return body

    def _link(self, visit: Visit, one: Found) -> Widget:
        lines_of: list[Widget] = [
            Text(str(one.address).partition("?")[0], "tiny", "muted", max_lines=1),
            Link(one.title, visit.opening(one.address), "body", detail=one.address.domain),
            Text(one.snippet, "small", "muted", max_lines=2),
        ]
        return Pad(Column(lines_of, gap=0), top=8, bottom=6)

    def _advertisement(self, visit: Visit, words: str) -> Widget:
        shops = list(SHOPS.values())
        shop = shops[int(visit.ui.uniform("ad shop", words) * len(shops))]
        row = Row(
            [
                Icon(shop.icon, 22, "primary"),
                Text(f"Advertisement · {shop.tagline}", "tiny", "muted", max_lines=1),
            ],
            stretch=1,
        )
        link = Link(f"Offers at {shop.domain}", visit.opening(shop.address("deals")), "body")
        return Pad(Card(Column([row, link], gap=2), pad=8), sides=12, top=6, bottom=2)


@lru_cache(maxsize=1024)
def look_up(words: str, day: int) -> tuple[Found, ...]:
    """Return the search results for some words, best first."""
    wanted = words_of(words)
    found = [*_sites(wanted), *_articles(wanted, ALMANAC), *_articles(wanted, HARBOUR_POST)]
    found.extend(_offers(words, wanted, day))
    return tuple(sorted(found, key=lambda one: -one.score)[:MOST])


def _share(wanted: list[str], text: str) -> float:
    having = set(words_of(text))
    return sum(word in having for word in wanted) / max(1, len(wanted))


def _sites(wanted: list[str]) -> list[Found]:
    found = []
    for shop in SHOPS.values():
        kinds = " ".join(lines()[kind].title for kind in shop.kinds)
        named = _share(wanted, f"{shop.name} {shop.domain}")
        score = max(named * 2.5, _share(wanted, f"{kinds} shop online {shop.tagline}") * 0.9)
        if score:
            title = f"{shop.name} – {shop.tagline}"
            found.append(Found(title, shop.address(), f"{kinds[:90]}…", score))
    for site in (ALMANAC, HARBOUR_POST):
        score = _share(wanted, f"{site.name} {site.domain}") * 2
        if score:
            found.append(Found(site.name, site.address(), "News and knowledge to read", score))
    return found


def _articles(wanted: list[str], site: ReadingSite) -> list[Found]:
    found = []
    for article in site.articles().values():
        named = _share(wanted, article.title)
        score = named * 2 + _share(wanted, f"{article.section} {article.text[0]} {site.name}") * 0.5
        if score >= 0.5:
            title = f"{article.title} – {site.name}"
            address = site.address("read", article.slug)
            found.append(Found(title, address, article.text[0], score))
    return found


def _offers(words: str, wanted: list[str], day: int) -> list[Found]:
    found = []
    for shop in SHOPS.values():
        for offer in shop.find(day, Wanted(words=words))[:3]:
            product = offer.product
            share = sum(word in product.words for word in wanted) / max(1, len(wanted))
            if share > 0.5:
                snippet = f"{' · '.join(product.details)}. {offer.stars} stars"
                title = f"{product.name} – {shop.name}"
                score = share * 1.4 + (shop.share - 1) * 0.01
                found.append(Found(title, shop.product_address(product), snippet, score))
    return found


FINCH = SearchEngine()
