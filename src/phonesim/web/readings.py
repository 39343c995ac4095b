"""Sites to read: an encyclopedia and a newspaper. Both list their articles and show each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from phonesim.drawing.colors import WHITE, Color
from phonesim.drawing.theme import Theme
from phonesim.toolkit.boxes import Card, Column, Pad, Row
from phonesim.toolkit.modals import Dialog, Menu, Sheet
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Icon, Picture, Text
from phonesim.toolkit.widget import Widget
from phonesim.web.address import Address, page_of
from phonesim.web.articles import Article, entries, stories
from phonesim.web.bands import Band, Link, Pairs
from phonesim.web.catalogue import words_of
from phonesim.web.site import SitePage, Visit, site_theme


@dataclass(frozen=True, slots=True)
class ReadingSite:
    """A site of articles. `pictures` puts a large picture on top of the first ones."""

    domain: str
    name: str
    icon: str
    color: Color
    articles: Callable[[], Mapping[str, Article]]
    search_label: str
    pictures: bool
    paper: Color = WHITE

    def look(self, phone_theme: Theme) -> Theme:
        return site_theme(phone_theme, self.color, dark_too=True, paper=self.paper)

    def address(self, *path: str, **query: str | int) -> Address:
        return page_of(self.domain, *path, **query)

    def title(self, address: Address) -> str:
        article = self.articles().get(address.path[-1]) if address.path else None
        return f"{article.title} – {self.name}" if article else self.name

    def page(self, visit: Visit) -> SitePage:
        path = visit.address.path
        if not path:
            return SitePage(self._front(visit), self._header(visit))
        article = self.articles().get(path[-1])
        if article is None:
            return SitePage([Empty("This page is gone", "info")], self._header(visit))
        return SitePage(self._article(article, visit), self._header(visit))

    def window(self, visit: Visit, name: str) -> Dialog | Menu | Sheet:
        sections = dict.fromkeys(article.section for article in self.articles().values())
        return visit.ui.sheet(
            self.name,
            {section: visit.opening(self.address(section=section)) for section in sections},
        )

    def _header(self, visit: Visit) -> Widget:
        name = Link(self.name, visit.opening(self.address()), "title")
        row = Row([Icon(self.icon, 24, "primary"), name], gap=10)
        return Band(Pad(row, sides=16, top=4, bottom=4), line=True)

    def _front(self, visit: Visit) -> list[Widget]:
        words = words_of(visit.ui.text("query"))
        section = visit.address.get("section")
        shown = [
            article
            for article in self.articles().values()
            if all(word in words_of(f"{article.title} {article.section}") for word in words)
            and section in ("", article.section)
        ]
        field = visit.ui.field("query", self.search_label, icon="search")
        sections = dict.fromkeys(article.section for article in shown)
        body: list[Widget] = [Pad(field, sides=12)]
        if self.pictures and not words and shown:
            body.extend(self._lead(visit, shown[0]))
            shown = shown[1:]
        if not shown:
            return [*body, Empty("Nothing found", "search")]
        for name in [""] if self.pictures else list(sections):
            if name:
                body.append(Heading(name))
            body.extend(self._row(visit, a) for a in shown if name in ("", a.section))
        return body

    def _lead(self, visit: Visit, article: Article) -> list[Widget]:
        opening = visit.opening(self.address("read", article.slug))
        story = Column(
            [
                Picture(article.picture, high=130),
                Text(article.title, "title"),
                Text(article.text[0], "small", "muted"),
            ],
            gap=6,
        )
        return [Pad(Card(story, article.title, opening, pad=10), sides=12)]

    def _row(self, visit: Visit, article: Article) -> ListRow:
        return ListRow(
            article.title,
            article.text[0] if self.pictures else "",
            picture=article.picture if self.pictures else "",
            icon="" if self.pictures else "file",
            on_tap=visit.opening(self.address("read", article.slug)),
        )

    def _article(self, article: Article, visit: Visit) -> list[Widget]:
        others = [a for a in self.articles().values() if a.section == article.section]
        place = others.index(article)
        near = [*others[place + 1 :], *others[:place]][:3]
        body: list[Widget] = [
            Pad(Text(article.section, "small", "primary"), top=10, bottom=0),
            Pad(Text(article.title, "headline"), top=0),
            Picture(article.picture, high=150, label=f"Picture of {article.title}"),
            Pad(Text(article.text[0], "body")),
            Pad(Pairs(article.facts), top=2),
            *[Pad(Text(text, "body")) for text in article.text[1:]],
        ]
        if near:
            body.extend((Heading("Read on"), *[self._row(visit, other) for other in near]))
        return body


ALMANAC = ReadingSite(
    domain="almanac.wiki",
    name="Almanac",
    icon="globe",
    color=(52, 84, 130),
    articles=entries,
    search_label="Search Almanac",
    pictures=False,
)
HARBOUR_POST = ReadingSite(
    domain="harbourpost.news",
    name="Harbour Post",
    icon="news",
    color=(150, 32, 40),
    articles=stories,
    search_label="Search the news",
    pictures=True,
    paper=(252, 250, 246),
)
