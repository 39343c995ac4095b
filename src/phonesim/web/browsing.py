"""What the browser stores (tabs, bookmarks, shortcuts), and navigation between pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from phonesim.app import Ui
from phonesim.drawing.colors import WHITE, Color
from phonesim.drawing.theme import Theme
from phonesim.facts import Facts
from phonesim.scene import Handler, Scene
from phonesim.toolkit.controls import IconButton
from phonesim.toolkit.widget import Size
from phonesim.web.address import parse
from phonesim.web.search_engine import FINCH
from phonesim.web.site import PageVisit, keep_visit
from phonesim.web.sites import SITES, title_of


@dataclass(frozen=True, slots=True)
class Tab:
    """An open tab. `url` is its page at the moment when it went to the background."""

    INCIDENTAL: ClassVar[bool] = True
    id: int = 0
    url: str = ""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A bookmarked page."""

    id: int = 0
    url: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A site on the new-tab page."""

    id: int = 0
    domain: str = ""


@dataclass(slots=True)
class ShortcutTile:
    """A site's icon on its colour, with the site's name."""

    name: str
    icon: str
    color: Color
    on_tap: Handler
    on_hold: Handler

    def size(self, theme: Theme, width: int) -> Size:
        return width, 78

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        behind, left = scene.background, x + (width - 46) // 2
        scene.rounded(left, y + 4, 46, 46, 23, self.color)
        scene.background = self.color
        scene.icon(left + 12, y + 16, self.icon, 22, WHITE)
        scene.background = behind
        scene.centred_text((x, y + 54, width, 18), self.name, scene.theme.tiny)
        box = (x, y, width, height)
        scene.element("button", self.name, box, on_tap=self.on_tap, on_hold=self.on_hold)


def living_tab(ui: Ui, tab: int) -> int:
    """Return the id of that tab, or of a new one if it was closed."""
    known = ui.facts.find(Tab, lambda t: t.id == tab)
    return known.id if known else ui.facts.add(Tab()).id


def go_to(ui: Ui, tab: int, text: str) -> None:
    """Open what was typed into the bar: an address, or a search for anything else."""
    text = text.strip()
    if not text:
        return
    is_address = re.fullmatch(r"\S+\.[a-z]{2,}(/\S*)?", text.casefold())
    address = parse(text) if is_address else FINCH.address(text)
    words = {} if is_address else {"query": text}
    keep_visit(ui.facts, str(address))
    ui.go("site", str(address), tab=living_tab(ui, tab), **words)


def going(ui: Ui, tab: int, text: str) -> Handler:
    return lambda: go_to(ui, tab, text)


def bookmark(facts: Facts, url: str) -> None:
    facts.add(Bookmark(url=url, title=title_of(url)))


def toggle_bookmark(ui: Ui, url: str) -> None:
    kept = ui.facts.find(Bookmark, lambda b: b.url == url)
    if kept:
        ui.facts.remove(kept)
        ui.say("Bookmark removed")
    else:
        bookmark(ui.facts, url)
        ui.say("Bookmark added")


def star(ui: Ui, url: str) -> IconButton:
    kept = ui.facts.find(Bookmark, lambda b: b.url == url) is not None
    icon, label = ("star_filled", "Remove bookmark") if kept else ("star", "Bookmark this page")
    return IconButton(icon, label, lambda: toggle_bookmark(ui, url), selected=kept)


def leave(ui: Ui, tab: int, url: str) -> None:
    """Store a tab's page before another tab comes to the front."""
    known = ui.facts.find(Tab, lambda t: t.id == tab)
    if known:
        ui.facts.edit(known, url=url)


def show_tabs(ui: Ui, tab: int, url: str) -> None:
    leave(ui, tab, url)
    ui.go("tabs", tab=tab)


def open_tab(ui: Ui, tab: int, url: str) -> None:
    leave(ui, tab, url)
    ui.go("new_tab", tab=ui.facts.add(Tab()).id)


def new_tab_instead(ui: Ui) -> None:
    ui.swap("new_tab", tab=ui.facts.add(Tab()).id)


def switching(ui: Ui, tab: Tab) -> Handler:
    def switch() -> None:
        if tab.url:
            ui.swap("site", tab.url, tab=tab.id)
        else:
            ui.swap("new_tab", tab=tab.id)

    return switch


def forward(ui: Ui, tab: int, url: str) -> None:
    """Open the page that was visited after the last visit of this one."""
    urls = [visit.url for visit in ui.facts.all(PageVisit)]
    places: Sequence[int] = [i for i, visited in enumerate(urls[:-1]) if visited == url]
    if places:
        ui.go("site", urls[places[-1] + 1], tab=living_tab(ui, tab))
    else:
        ui.say("There is no page to go forward to")


def icon_of(url: str) -> str:
    site = SITES.get(parse(url).domain) if url else None
    return site.icon if site else "globe"


def asking(ui: Ui, bookmark: Bookmark) -> Handler:
    return lambda: ui.go("bookmark_menu", bookmark.id, tab=int(ui.get("tab", 0)))


def tile(ui: Ui, tab: int, shortcut: Shortcut) -> ShortcutTile:
    site = SITES[shortcut.domain]
    return ShortcutTile(
        site.name,
        site.icon,
        site.color,
        going(ui, tab, shortcut.domain),
        lambda: ui.go("shortcut_menu", shortcut.id, tab=tab),
    )
