"""Store: find apps, install, update and remove them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from phonesim.app import App, Ui, Window
from phonesim.contents.listings import (
    CATEGORIES,
    OFFER_OF,
    OFFERS,
    Listing,
    furnish_store,
    install,
)
from phonesim.drawing.colors import WHITE, Color
from phonesim.drawing.theme import Theme
from phonesim.facts import Facts, MissingFact
from phonesim.scene import Handler, Scene
from phonesim.system import InstalledApp
from phonesim.toolkit.boxes import Card, Column, Pad, Row, Space
from phonesim.toolkit.controls import Button
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Icon, Text
from phonesim.toolkit.tile_rows import TileRow
from phonesim.toolkit.widget import Size, Widget

TABS = ("Discover", "Categories", "My apps")
TAB_ICONS = ("star", "grid", "app")
BADGE = 64


class StoreApp(App):
    """Discover, categories, and the installed apps."""

    name = "Store"
    icon = "store"
    color = (22, 134, 118)
    kinds = (Listing,)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        furnish_store(facts, rng)

    def home(self, ui: Ui) -> Window:
        tab = ui.tab(*TABS)
        parts: dict[str, Callable[[Ui], list[Widget]]] = {
            "Discover": self._discover,
            "Categories": self._categories,
            "My apps": self._my_apps,
        }
        search = Pad(ui.field("query", "Search apps", icon="search"), sides=12, top=4, bottom=4)
        return ui.page(
            "Store",
            parts[tab](ui),
            tabs=ui.tabs(*TABS, icons=() if ui.version == 1 else TAB_ICONS),
            head=search if tab == "Discover" else None,
        )

    def _discover(self, ui: Ui) -> list[Widget]:
        query = ui.text("query").casefold().strip()
        listings = {listing.name: listing for listing in ui.facts.all(Listing)}
        found = [
            listings[offer.name]
            for offer in OFFERS
            if offer.name in listings
            and query in f"{offer.name} {offer.category} {offer.maker}".casefold()
        ]
        if not found:
            return [Empty("No apps found", "search")]
        found.sort(key=lambda listing: -listing.rating)
        rows: list[Widget] = [_listing_row(ui, listing) for listing in found]
        if query:
            return rows
        return [*_sponsored(ui, found), Heading("Top rated"), *rows]

    def _categories(self, ui: Ui) -> list[Widget]:
        rows = []
        for category, icon in CATEGORIES.items():
            several = sum(offer.category == category for offer in OFFERS)
            row = ListRow(
                category, f"{several} apps", icon=icon, on_tap=_to(ui, "category", category)
            )
            rows.append(row)
        return list(rows)

    def _my_apps(self, ui: Ui) -> list[Widget]:
        behind = _updates(ui)
        names = {listing.name for listing in behind}
        listings = {listing.name: listing for listing in ui.facts.all(Listing)}
        installed = sorted(app.name for app in ui.facts.all(InstalledApp))
        heading = Heading(f"Updates available: {len(behind)}")
        body: list[Widget] = [heading]
        if behind:
            update_all = Button("Update all", lambda: _update(ui, behind), "soft", high=36)
            body = [Pad(Row([heading, update_all, Space(1, 8)], stretch=0), sides=0, top=4)]
        body += [_update_row(ui, listing) for listing in behind]
        body.append(Heading("Installed"))
        body += [
            _listing_row(ui, listings[name])
            for name in installed
            if name in listings and name not in names
        ]
        return body

    def category(self, ui: Ui, category: str) -> Window:
        listings = ui.facts.where(
            Listing, lambda li: li.name in OFFER_OF and OFFER_OF[li.name].category == category
        )
        return ui.page(category, [_listing_row(ui, listing) for listing in listings])

    def app_page(self, ui: Ui, name: str) -> Window:
        listing = ui.facts.find(Listing, lambda li: li.name == name)
        if listing is None:
            raise MissingFact(f"the store has no app called {name}")
        offer, app = OFFER_OF.get(name), ui.apps[name]
        head = Row(
            [
                Badge(app.icon, app.color),
                Column(
                    [
                        Text(name, "headline", max_lines=1),
                        Text(offer.maker if offer else "Came with this phone", "small", "primary"),
                    ],
                    gap=4,
                ),
            ],
            gap=16,
            stretch=1,
        )
        about = [
            ListRow(f"{listing.rating:.1f} stars", f"{listing.reviews:,} reviews", icon="star"),
            ListRow(f"{listing.megabytes} MB", "Size", icon="download"),
            ListRow(f"Version {listing.version}.0", _version_words(ui, listing), icon="info"),
        ]
        if offer:
            about.append(ListRow(offer.category, "Category", icon=CATEGORIES[offer.category]))
        text = Pad(Text(offer.text if offer else f"The {name} app of this phone."))
        parts: list[Widget] = [text, *about] if ui.version != 3 else [*about, text]
        buttons = Row(self._buttons(ui, listing), align="spread")
        return ui.page("App", [Pad(head, top=16), Pad(buttons), *parts])

    def _buttons(self, ui: Ui, listing: Listing) -> list[Button]:
        name = listing.name
        installed = ui.facts.find(InstalledApp, lambda app: app.name == name)
        if installed is None:

            def get() -> None:
                install(ui.facts, name, listing.version, listing.megabytes)
                ui.say(f"{name} installed")

            return [Button("Install", get, icon="download")]
        buttons = [Button("Open", lambda: ui.launch(name), "soft")]
        if ui.apps[name].removable:
            remove = Button("Uninstall", lambda: ui.go("confirm_uninstall", name), "soft")
            buttons.insert(0, remove)
        if listing.version > installed.version:
            buttons.append(Button("Update", lambda: _update(ui, [listing])))
        return buttons

    def confirm_uninstall(self, ui: Ui, name: str) -> Window:
        def uninstall() -> None:
            ui.facts.remove_where(InstalledApp, lambda app: app.name == name)
            ui.stop(name)
            ui.say(f"{name} uninstalled")

        text = f"Do you want to uninstall {name}?"
        return ui.dialog("Uninstall app?", text, {"Cancel": None, "Uninstall": uninstall})


@dataclass(slots=True)
class Badge:
    """An app's icon on its tile."""

    icon: str
    color: Color

    def size(self, theme: Theme, width: int) -> Size:
        return BADGE, BADGE

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        scene.rounded(x, y, BADGE, BADGE, 18, self.color)
        behind, scene.background = scene.background, self.color
        scene.icon(x + 14, y + 14, self.icon, BADGE - 28, WHITE)
        scene.background = behind


def _to(ui: Ui, page: str, name: str) -> Handler:
    return lambda: ui.go(page, name)


def _updates(ui: Ui) -> list[Listing]:
    versions = {app.name: app.version for app in ui.facts.all(InstalledApp)}
    listings = ui.facts.where(Listing, lambda li: li.version > versions.get(li.name, li.version))
    return sorted(listings, key=lambda li: li.name)


def _update(ui: Ui, listings: list[Listing]) -> None:
    installed = {app.name: app for app in ui.facts.all(InstalledApp)}
    for listing in listings:
        ui.facts.edit(installed[listing.name], version=listing.version)
    several = f"{len(listings)} apps" if len(listings) > 1 else listings[0].name
    ui.say(f"{several} updated")


def _version_words(ui: Ui, listing: Listing) -> str:
    installed = ui.facts.find(InstalledApp, lambda app: app.name == listing.name)
    if installed is None:
        return "Not installed"
    behind = installed.version < listing.version
    return f"Update available, you have {installed.version}.0" if behind else "Up to date"


def _listing_row(ui: Ui, listing: Listing) -> Widget:
    app, offer = ui.apps[listing.name], OFFER_OF.get(listing.name)
    return TileRow(
        listing.name,
        f"{offer.category if offer else 'System app'} · {listing.rating:.1f} stars",
        icon=app.icon,
        color=app.color,
        corner=10,
        on_tap=_to(ui, "app_page", listing.name),
        detail_lines=1,
    )


def _update_row(ui: Ui, listing: Listing) -> Widget:
    app = ui.apps[listing.name]
    return TileRow(
        listing.name,
        f"Version {listing.version}.0 · {listing.megabytes} MB",
        icon=app.icon,
        color=app.color,
        corner=10,
        on_tap=_to(ui, "app_page", listing.name),
        button=("refresh", f"Update {listing.name}", lambda: _update(ui, [listing])),
        detail_lines=1,
    )


def _sponsored(ui: Ui, listings: list[Listing]) -> list[Widget]:
    """Return an advertised app on some phones, at the rate of the drift's advertisements."""
    if ui.uniform("store", "sponsored") >= ui.ad_rate:
        return []
    listing = listings[int(ui.uniform("store", "sponsor") * len(listings))]
    app, offer = ui.apps[listing.name], OFFER_OF[listing.name]
    words = Column(
        [
            Text(f"Sponsored · {offer.maker}", "tiny", "muted", 1),
            Text(offer.text, "small", max_lines=2),
        ],
        gap=3,
    )
    card = Card(
        Row([Icon(app.icon, 30, app.color), words], gap=12, stretch=1),
        label=f"Sponsored: {listing.name}",
        on_tap=_to(ui, "app_page", listing.name),
    )
    return [Pad(card, sides=12, top=6, bottom=2)]
