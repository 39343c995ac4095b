"""The header of every page of a shop: menu, name, search, wish list, cart."""

from __future__ import annotations

from dataclasses import dataclass

from phonesim.drawing.colors import WHITE, Color
from phonesim.drawing.fonts import face, text_width
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.boxes import Column, Flow, Pad, Row
from phonesim.toolkit.controls import Chip, IconButton
from phonesim.toolkit.modals import Sheet
from phonesim.toolkit.texts import Heading
from phonesim.toolkit.widget import Size, Widget
from phonesim.web.bands import Band
from phonesim.web.basket import cart_of
from phonesim.web.catalogue import lines
from phonesim.web.shop import Shop
from phonesim.web.site import SitePage, Visit

QUERY = "query"  # the key of the search field


@dataclass(slots=True)
class ShopName:
    """The shop's name in its own style; a tap opens its first page."""

    name: str
    on_tap: Handler
    centred: bool = False

    def size(self, theme: Theme, width: int) -> Size:
        return text_width(self.name, theme.title) + 12, 40

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        face = scene.theme.title
        spare = width - text_width(self.name, face)
        left = x + (spare // 2 if self.centred else 6)
        top = y + (height - face.line_height) // 2
        scene.text(left, top, self.name, face, scene.theme.primary)
        scene.element("button", f"{self.name} home", (x, y, width, height), on_tap=self.on_tap)


@dataclass(slots=True)
class SearchIcon:
    """A search field shown as an icon; a tap opens the search page."""

    label: str
    on_tap: Handler

    def size(self, theme: Theme, width: int) -> Size:
        return 38, 40

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        scene.icon(x + (width - 22) // 2, y + (height - 22) // 2, "search", 22)
        scene.element("field", self.label, (x, y, width, height), on_tap=self.on_tap)


@dataclass(slots=True)
class CartIcon:
    """The cart with the number of items in it."""

    label: str
    count: int
    on_tap: Handler
    icon: str = "cart"

    def size(self, theme: Theme, width: int) -> Size:
        return 42, 40

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        behind = scene.background
        scene.icon(x + 8, y + 10, self.icon, 22)
        if self.count:
            color: Color = (206, 44, 60)
            scene.rounded(x + 23, y + 4, 16, 16, 8, color)
            scene.background = color
            box = (x + 23, y + 4, 16, 16)
            scene.centred_text(box, str(min(self.count, 99)), face(10, "medium"), WHITE)
            scene.background = behind
        scene.element("button", self.label, (x, y, width, height), on_tap=self.on_tap)


def header(visit: Visit, shop: Shop) -> Widget:
    """Return the header of every page: menu, name, search, wish list, cart."""
    style = shop.style
    searches_by_icon = style.search_icon != visit.ui.theme.centred
    count = sum(item.quantity for item in cart_of(visit.facts, shop.domain))
    centred = style.header == "centred"
    bar: list[Widget] = [
        IconButton("menu", "Menu", visit.showing("menu")),
        ShopName(shop.name, visit.opening(shop.address()), centred),
        IconButton("heart", "Wish list", visit.opening(shop.address("wishlist"))),
        CartIcon(
            shop.cart,
            count,
            visit.opening(shop.address("cart")),
            "bag" if shop.cart == "Bag" else "cart",
        ),
    ]
    if searches_by_icon:
        bar.insert(2, SearchIcon(shop.search_label, lambda: _open_search(visit, shop)))
    solid = style.header == "solid"
    top = Band(
        Pad(Row(bar, gap=0, stretch=1), sides=4, top=0, bottom=0),
        shop.color if solid else None,
        WHITE if solid else None,
        line=not solid and searches_by_icon,
    )
    if searches_by_icon:
        return top
    return Column([top, _search_row(visit, shop, shop.color if solid else None)])


def _search_row(visit: Visit, shop: Shop, color: Color | None) -> Widget:
    field = search_field(visit, shop)
    return Band(Pad(field, sides=12, top=0, bottom=4), color, pad=2, line=color is None)


def search_field(visit: Visit, shop: Shop) -> Widget:
    def search() -> None:
        words = visit.ui.text(QUERY).strip()
        if words:
            visit.open(shop.address("search", q=words), **{QUERY: words})

    return visit.ui.field(QUERY, shop.search_label, on_submit=search, icon="search")


def _open_search(visit: Visit, shop: Shop) -> None:
    visit.open(shop.address("find"))
    visit.ui.field(QUERY, shop.search_label).on_focus()


def find_page(visit: Visit, shop: Shop) -> SitePage:
    """Return the search page of a shop whose header has only a search icon."""
    chips = [
        Chip(lines()[kind].title, visit.opening(shop.address("c", kind))) for kind in shop.kinds[:8]
    ]
    body: list[Widget] = [
        Pad(search_field(visit, shop), sides=12, top=12),
        Heading("Popular"),
        Pad(Flow(chips)),
    ]
    return SitePage(body)


def menu(visit: Visit, shop: Shop) -> Sheet:
    return visit.ui.sheet(
        shop.name,
        {
            "Home": visit.opening(shop.address()),
            "All categories": visit.opening(shop.address("categories")),
            shop.deals: visit.opening(shop.address("deals")),
            "Orders": visit.opening(shop.address("orders")),
            "Account": visit.opening(shop.address("account")),
            "Delivery and returns": visit.opening(shop.address("help")),
        },
    )
