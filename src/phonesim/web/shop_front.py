"""The first page of a shop, and the list of all its categories."""

from __future__ import annotations

from phonesim.drawing.colors import BLACK, mixed
from phonesim.toolkit.boxes import Flow, Grid, Pad
from phonesim.toolkit.controls import Button, Chip
from phonesim.toolkit.rows import ListRow
from phonesim.toolkit.texts import Heading, Text
from phonesim.toolkit.widget import Widget
from phonesim.web.bands import Banner, PictureTile
from phonesim.web.basket import COUPONS
from phonesim.web.catalogue import lines
from phonesim.web.offers import Wanted
from phonesim.web.shop import Shop
from phonesim.web.shop_header import header
from phonesim.web.shop_results import offer_cards
from phonesim.web.site import SitePage, Visit

MAX_ROWS = 20  # a shop with more categories shows them as tiles


def home(visit: Visit, shop: Shop) -> SitePage:
    blocks = list(shop.style.home)
    if visit.ui.theme.cards:  # the order of blocks differs between phones
        blocks = [*blocks[1:3], blocks[0], *blocks[3:]]
    body: list[Widget] = []
    for block in blocks:
        body.extend(_BLOCKS[block](visit, shop))
    body.append(Pad(Text(f"© {shop.name} · {shop.tagline}", "tiny", "muted", align="centre")))
    return SitePage(body, header(visit, shop))


def code_of_the_day(day: int) -> str:
    return list(COUPONS)[day % len(COUPONS)]


def banner_title(shop: Shop, day: int) -> str:
    return f"Up to 40% off {lines()[shop.kinds[day % len(shop.kinds)]].title.lower()}"


def _banner(visit: Visit, shop: Shop) -> list[Widget]:
    line = lines()[shop.kinds[visit.day % len(shop.kinds)]]
    code = code_of_the_day(visit.day)
    banner = Banner(
        banner_title(shop, visit.day),
        f"Code {code} takes {COUPONS[code]}% off. {shop.tagline}.",
        f"product:{line.key}:{line.colours[0]}:{visit.day % 3}",
        mixed(shop.color, BLACK, 0.12),
        visit.opening(shop.address("deals")),
        high=150 if visit.ui.theme.body.size > 16 else 124,
        round=0 if shop.style.header == "centred" else 12,
    )
    edge = 0 if shop.style.header == "centred" else 12
    return [Pad(banner, sides=edge, top=edge, bottom=4)]


def _categories(visit: Visit, shop: Shop) -> list[Widget]:
    tiles = [_category_tile(visit, shop, kind) for kind in shop.kinds[:8]]
    more = Button(
        "All categories", visit.opening(shop.address("categories")), "plain", icon="grid", high=36
    )
    return [
        Heading("Shop by category"),
        Pad(Grid(tiles, 4, gap=8), sides=12, top=4, bottom=4),
        Pad(more, sides=12, top=0, bottom=4),
    ]


def _category_chips(visit: Visit, shop: Shop) -> list[Widget]:
    chips = [
        Chip(lines()[kind].title, visit.opening(shop.address("c", kind)))
        for kind in shop.kinds[:10]
    ]
    more = Chip("All categories", visit.opening(shop.address("categories")))
    return [Pad(Flow([*chips, more]), sides=12, top=10, bottom=4)]


def _deals(visit: Visit, shop: Shop) -> list[Widget]:
    reduced = shop.find(visit.day, Wanted(reduced=True))[:4]
    return [Heading(shop.deals), *offer_cards(visit, shop, reduced)]


def _popular(visit: Visit, shop: Shop) -> list[Widget]:
    popular = shop.find(visit.day, Wanted(sort="rating"))[:6]
    return [Heading("Loved by customers"), *offer_cards(visit, shop, popular)]


def _new(visit: Visit, shop: Shop) -> list[Widget]:
    newest = shop.find(visit.day, Wanted(sort="newest"))[:4]
    return [Heading("Just arrived"), *offer_cards(visit, shop, newest)]


_BLOCKS = {
    "banner": _banner,
    "categories": _categories,
    "chips": _category_chips,
    "deals": _deals,
    "popular": _popular,
    "new": _new,
}


def categories(visit: Visit, shop: Shop) -> SitePage:
    body: list[Widget] = []
    for department in shop.departments():
        kinds = [kind for kind in shop.kinds if lines()[kind].department == department]
        body.append(Heading(department))
        if len(shop.kinds) > MAX_ROWS:
            tiles = [_category_tile(visit, shop, kind) for kind in kinds]
            body.append(Pad(Grid(tiles, 4, gap=8), sides=12, top=4, bottom=4))
        else:
            body.extend(_category_row(visit, shop, kind) for kind in kinds)
    return SitePage(body, header(visit, shop))


def _category_tile(visit: Visit, shop: Shop, kind: str) -> PictureTile:
    return PictureTile(
        lines()[kind].title,
        f"product:{kind}:{lines()[kind].colours[0]}:0",
        visit.opening(shop.address("c", kind)),
        round_tile=shop.style.cards in ("grid", "trio"),
    )


def _category_row(visit: Visit, shop: Shop, kind: str) -> ListRow:
    return ListRow(
        lines()[kind].title,
        picture=f"product:{kind}:{lines()[kind].colours[0]}:0",
        on_tap=visit.opening(shop.address("c", kind)),
    )
