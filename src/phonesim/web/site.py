"""The protocol of web sites, and the visit that their pages are built from.

A site maps an address to a page: a header, a body and a footer of toolkit widgets. It keeps no
state of its own; what a visitor did (cart, orders, answers to banners) is stored as facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Protocol

from phonesim.app import Ui
from phonesim.drawing.colors import WHITE, Color, mixed
from phonesim.drawing.theme import Theme, theme
from phonesim.facts import Facts
from phonesim.scene import Handler
from phonesim.state import Plain
from phonesim.toolkit.modals import Dialog, Menu, Sheet
from phonesim.toolkit.widget import Widget
from phonesim.web.address import Address
from phonesim.web.day import WebDay

VISITS_KEPT = 40


@dataclass(frozen=True, slots=True)
class PageVisit:
    """An opened page. All of them, newest last, are the browser's history."""

    INCIDENTAL: ClassVar[bool] = True
    id: int = 0
    url: str = ""


@dataclass(frozen=True, slots=True)
class BannerAnswer:
    """A site's banner or offer that was answered and is not shown again."""

    INCIDENTAL: ClassVar[bool] = True
    id: int = 0
    domain: str = ""
    banner: str = ""


@dataclass(slots=True)
class SitePage:
    """What a site shows at an address. `notice` covers everything until it is answered."""

    body: Sequence[Widget]
    head: Widget | None = None
    foot: Widget | None = None
    notice: Dialog | None = None
    gap: int = 0


class Site(Protocol):
    """A web site."""

    @property
    def domain(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def icon(self) -> str: ...

    @property
    def color(self) -> Color: ...

    def look(self, phone_theme: Theme) -> Theme:
        """Return the site's theme on a phone with that theme."""

    def title(self, address: Address) -> str:
        """Return the title of a tab with that page."""

    def page(self, visit: Visit) -> SitePage: ...

    def window(self, visit: Visit, name: str) -> Dialog | Menu | Sheet:
        """Return a dialog, menu or sheet of the page that is visited."""


class Visit:
    """One display of one address: the page's `ui`, and navigation from there."""

    __slots__ = ("address", "tab", "ui")

    def __init__(self, ui: Ui, address: Address, tab: int) -> None:
        self.ui = ui
        self.address = address
        self.tab = tab

    @property
    def facts(self) -> Facts:
        return self.ui.facts

    @property
    def day(self) -> int:
        return self.facts.one(WebDay).number

    def open(self, address: Address, **memory: Plain) -> None:
        """Open another page; Back returns to this one."""
        keep_visit(self.facts, str(address))
        self.ui.go("site", str(address), tab=self.tab, **memory)

    def replace(self, address: Address) -> None:
        """Open another page in place of this one; Back skips this one."""
        keep_visit(self.facts, str(address))
        self.ui.swap("site", str(address), tab=self.tab)

    def opening(self, address: Address) -> Handler:
        return lambda: self.open(address)

    def show(self, window: str) -> None:
        """Open a dialog, menu or sheet of this page."""
        self.ui.go("site_window", str(self.address), window, tab=self.tab)

    def showing(self, window: str) -> Handler:
        return lambda: self.show(window)

    def answered(self, banner: str) -> bool:
        domain = self.address.domain
        return bool(
            self.facts.find(BannerAnswer, lambda a: (a.domain, a.banner) == (domain, banner))
        )

    def answer(self, banner: str) -> None:
        self.facts.add(BannerAnswer(domain=self.address.domain, banner=banner))


def keep_visit(facts: Facts, url: str) -> None:
    """Add a page to the history; drop the oldest above `VISITS_KEPT`."""
    facts.add(PageVisit(url=url))
    visits = facts.all(PageVisit)
    if len(visits) > VISITS_KEPT:
        facts.remove(visits[0])


@lru_cache(maxsize=256)
def site_theme(
    phone_theme: Theme, brand: Color, *, dark_too: bool, paper: Color = WHITE, cards: bool = False
) -> Theme:
    """Return a theme in the site's colours and the phone's faces; dark only with `dark_too`."""
    dark = dark_too and phone_theme.dark
    plain = theme(dark, "blue", 1.0, 0)
    primary = mixed(brand, WHITE, 0.45) if dark else brand
    return replace(
        plain,
        page=plain.page if dark else paper,
        field=plain.field if dark else mixed(paper, plain.text, 0.1),
        primary=primary,
        on_primary=(20, 22, 26) if dark else WHITE,
        tint=mixed(plain.page, primary, 0.18),
        headline=phone_theme.headline,
        title=phone_theme.title,
        body=phone_theme.body,
        strong=phone_theme.strong,
        small=phone_theme.small,
        tiny=phone_theme.tiny,
        cards=cards,
        centred=False,
        row_pad=phone_theme.row_pad,
    )
