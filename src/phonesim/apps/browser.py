"""Browser: the web in tabs, with bookmarks, shortcuts and a history.

Every visit to a web page is a page of the app (`site`, with the address as its only argument), so
the phone's Back goes back through the web. A page's memory holds the id of its tab; when that tab
is closed, the page closes, too.
"""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime

from phonesim.app import App, Ui, Window
from phonesim.drawing.theme import Theme
from phonesim.facts import Facts
from phonesim.scene import Handler
from phonesim.toolkit.boxes import Grid, Pad, Space
from phonesim.toolkit.controls import IconButton
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Text
from phonesim.toolkit.widget import Widget
from phonesim.web.address import parse
from phonesim.web.articles import entries, stories
from phonesim.web.basket import (
    AppliedCoupon,
    CartItem,
    DeliveryPlace,
    Newsletter,
    Order,
    WishItem,
)
from phonesim.web.browser_window import (
    ADDRESS_LABEL,
    AddressField,
    BrowserWindow,
    TabsButton,
)
from phonesim.web.browsing import (
    Bookmark,
    Shortcut,
    Tab,
    asking,
    bookmark,
    forward,
    go_to,
    going,
    icon_of,
    living_tab,
    new_tab_instead,
    open_tab,
    show_tabs,
    star,
    switching,
    tile,
    toggle_bookmark,
)
from phonesim.web.customer import furnish_shops
from phonesim.web.day import DAYS, WebDay
from phonesim.web.readings import ALMANAC, HARBOUR_POST
from phonesim.web.search_engine import FINCH
from phonesim.web.shops import SHOPS
from phonesim.web.site import BannerAnswer, PageVisit, SitePage, Visit
from phonesim.web.sites import SITES, title_of

ADDRESS = "address"  # the key of the address field


class BrowserApp(App):
    """The web browser."""

    name = "Browser"
    icon = "globe"
    color = (38, 110, 196)
    kinds = (
        WebDay, Tab, Bookmark, Shortcut, PageVisit, BannerAnswer, CartItem, WishItem, Order,
        AppliedCoupon, DeliveryPlace, Newsletter,
    )  # fmt: skip

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        facts.add(WebDay(number=rng.randrange(DAYS)))
        facts.add(Tab())
        domains = [*SHOPS, ALMANAC.domain, HARBOUR_POST.domain]
        rng.shuffle(domains)
        for domain in domains:
            facts.add(Shortcut(domain=domain))
        for slug in rng.sample(list(entries()), 2):
            bookmark(facts, str(ALMANAC.address("read", slug)))
        for slug in rng.sample(list(stories()), 2):
            bookmark(facts, str(HARBOUR_POST.address("read", slug)))
        furnish_shops(facts, rng, now)

    # Pages -------------------------------------------------------------------------------------

    def home(self, ui: Ui) -> Window:
        first = next((tab.id for tab in ui.facts.all(Tab)), 0)
        return self._new_tab_page(ui, int(ui.get("tab", first)))

    def new_tab(self, ui: Ui) -> Window:
        return self._new_tab_page(ui, ui.facts.get(Tab, int(ui.get("tab", 0))).id)

    def new_search(self, ui: Ui) -> Window:
        """The page that the home screen's search box opens."""
        recent = [v.url for v in ui.facts.all(PageVisit) if v.url.startswith(FINCH.domain)]
        words = list(dict.fromkeys(parse(url).get("q") for url in reversed(recent)))[:6]
        ideas = words or ["running shoes", "Velmark", "night train", "wireless keyboard"]
        tab = next((tab.id for tab in ui.facts.all(Tab)), 0)
        rows: list[Widget] = [
            ListRow(idea, icon="clock" if words else "search", on_tap=going(ui, tab, idea))
            for idea in ideas
            if idea
        ]
        page = SitePage([Heading("Recent searches" if words else "Try"), *rows])
        return self._framed(ui, tab, "", page, ui.theme)

    def site(self, ui: Ui, url: str) -> Window:
        tab = ui.facts.get(Tab, int(ui.get("tab", 0)))
        address = parse(url)
        site = SITES.get(address.domain)
        if site is None:
            page = SitePage([Empty(f"{address.domain} cannot be reached", "globe")])
            return self._framed(ui, tab.id, url, page, ui.theme)
        page = site.page(Visit(ui, address, tab.id))
        return self._framed(ui, tab.id, url, page, site.look(ui.theme))

    def site_window(self, ui: Ui, url: str, name: str) -> Window:
        """A dialog, menu or sheet of the page at an address."""
        address = parse(url)
        return SITES[address.domain].window(Visit(ui, address, int(ui.get("tab", 0))), name)

    def _new_tab_page(self, ui: Ui, tab: int) -> Window:
        tiles = [tile(ui, tab, shortcut) for shortcut in ui.facts.all(Shortcut)]
        story = list(stories().values())[ui.facts.one(WebDay).number % len(stories())]
        news = [story, *[s for s in stories().values() if s is not story][:4]]
        body: list[Widget] = [
            Space(18),
            Pad(Text(FINCH.name, "headline", "primary", align="centre")),
            Pad(Grid(tiles, 4, gap=4), sides=12) if tiles else Space(8),
            Heading("In the news"),
            *[
                ListRow(
                    article.title,
                    f"{HARBOUR_POST.name} · {article.section}",
                    picture=article.picture,
                    on_tap=going(ui, tab, str(HARBOUR_POST.address("read", article.slug))),
                )
                for article in news
            ],
        ]
        return self._framed(ui, tab, "", SitePage(body), ui.theme)

    def _framed(self, ui: Ui, tab: int, url: str, page: SitePage, look: Theme) -> BrowserWindow:
        field = ui.field(
            ADDRESS,
            ADDRESS_LABEL,
            on_submit=lambda: go_to(ui, tab, ui.text(ADDRESS)),
            icon="search",
        )

        def edit() -> None:
            ui.set(ADDRESS, "")
            ui.field(ADDRESS, "").on_focus()  # no label: the page must not scroll to the field

        version = ui.version
        after: list[Widget] = [
            TabsButton(len(ui.facts.all(Tab)), lambda: show_tabs(ui, tab, url)),
            IconButton("more", "More options", lambda: ui.go("menu", url, tab=tab)),
        ]
        if url and version % 3 == 2:
            after.insert(0, star(ui, url))
        before = [
            IconButton("home", "New tab page", lambda: ui.go("new_tab", tab=living_tab(ui, tab)))
        ]
        return BrowserWindow(
            address=AddressField(url, replace(field, icon=""), edit),
            before=before if url and version % 3 != 0 else [],
            after=after,
            body=ui.scroll(page.body, gap=page.gap),
            look=look,
            head=page.head,
            foot=page.foot,
            notice=page.notice,
            bar_at_foot=version % 3 == 0,
        )

    # Menu, tabs, bookmarks, history ------------------------------------------------------------

    def menu(self, ui: Ui, url: str) -> Window:
        tab = int(ui.get("tab", 0))
        choices: dict[str, Handler] = {
            "New tab": lambda: open_tab(ui, tab, url),
            "Bookmarks": lambda: ui.go("bookmarks", tab=tab),
            "History": lambda: ui.go("history", tab=tab),
        }
        if url:
            kept = ui.facts.find(Bookmark, lambda b: b.url == url)
            label = "Remove bookmark" if kept else "Bookmark this page"
            choices = {label: lambda: toggle_bookmark(ui, url), **choices}
            choices["Forward"] = lambda: forward(ui, tab, url)
        return ui.menu(choices)

    def tabs(self, ui: Ui) -> Window:
        def closing(tab: Tab) -> Handler:
            return lambda: ui.facts.remove(tab)

        current = int(ui.get("tab", 0))
        rows = [
            ListRow(
                title_of(tab.url),
                tab.url.partition("?")[0],
                icon=icon_of(tab.url),
                on_tap=switching(ui, tab),
                selected=tab.id == current,
                button=("close", f"Close {title_of(tab.url)}", closing(tab)),
                detail_lines=1,
            )
            for tab in ui.facts.all(Tab)
        ]
        return ui.page(
            "Tabs",
            rows or [Empty("No open tabs", "globe")],
            primary=("plus", "New tab", lambda: new_tab_instead(ui)),
        )

    def bookmarks(self, ui: Ui) -> Window:
        tab = int(ui.get("tab", 0))
        rows = [
            ListRow(
                bookmark.title,
                bookmark.url.partition("?")[0],
                icon=icon_of(bookmark.url),
                on_tap=going(ui, tab, bookmark.url),
                on_hold=asking(ui, bookmark),
                button=("more", f"Options for {bookmark.title}", asking(ui, bookmark)),
                detail_lines=1,
            )
            for bookmark in ui.facts.all(Bookmark)
        ]
        return ui.page("Bookmarks", rows or [Empty("No bookmarks yet", "star")])

    def bookmark_menu(self, ui: Ui, bookmark_id: int) -> Window:
        bookmark = ui.facts.get(Bookmark, bookmark_id)

        def delete() -> None:
            ui.facts.remove(bookmark)
            ui.say("Bookmark deleted")

        tab = int(ui.get("tab", 0))
        return ui.sheet(bookmark.title, {"Open": going(ui, tab, bookmark.url), "Delete": delete})

    def history(self, ui: Ui) -> Window:
        tab = int(ui.get("tab", 0))
        visits = ui.facts.all(PageVisit)[::-1][:30]

        def clear() -> None:
            ui.facts.remove_where(PageVisit, lambda visit: True)
            ui.say("History cleared")

        rows = [
            ListRow(
                title_of(visit.url),
                visit.url.partition("?")[0],
                icon=icon_of(visit.url),
                on_tap=going(ui, tab, visit.url),
                detail_lines=1,
            )
            for visit in visits
        ]
        return ui.page(
            "History",
            rows or [Empty("No history", "clock")],
            actions=[IconButton("trash", "Clear history", clear)],
        )

    def shortcut_menu(self, ui: Ui, shortcut_id: int) -> Window:
        shortcut = ui.facts.get(Shortcut, shortcut_id)
        tab = int(ui.get("tab", 0))
        return ui.sheet(
            SITES[shortcut.domain].name,
            {
                "Open": going(ui, tab, shortcut.domain),
                "Remove shortcut": lambda: ui.facts.remove(shortcut),
            },
        )
