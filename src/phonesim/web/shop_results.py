"""A shop's lists of offers: search results or a category; sorted, filtered, paged."""

from __future__ import annotations

from collections.abc import Sequence

from phonesim.scene import Handler
from phonesim.toolkit.boxes import Column, Flow, Grid, Pad, Row, Space
from phonesim.toolkit.controls import Button, Chip
from phonesim.toolkit.modals import Sheet
from phonesim.toolkit.rows import Empty
from phonesim.toolkit.texts import Text
from phonesim.toolkit.widget import Widget
from phonesim.web.catalogue import lines
from phonesim.web.offers import PRICE_BANDS, SORTS, Offer, Wanted
from phonesim.web.product_cards import FlatCard, UprightCard
from phonesim.web.shop import Shop
from phonesim.web.shop_header import header
from phonesim.web.site import SitePage, Visit


def offer_cards(
    visit: Visit, shop: Shop, shown: Sequence[Offer], sponsored: int = -1
) -> list[Widget]:
    """Return the offers in this shop's style. `sponsored` is the index of an advertisement."""
    look = shop.style.cards

    def opening(offer: Offer) -> Handler:
        return visit.opening(shop.product_address(offer.product))

    if look == "list":
        return [FlatCard(o, opening(o), i == sponsored) for i, o in enumerate(shown)]
    if look == "wide":
        return [FlatCard(o, opening(o), i == sponsored, specs=False) for i, o in enumerate(shown)]
    high, columns, framed = {
        "grid": (116, 2, True),
        "tall": (196, 2, False),
        "trio": (88, 3, True),
    }[look]
    name_lines = 3 if columns == 3 else 2
    cells = [
        UprightCard(o, opening(o), high, i == sponsored, framed, name_lines)
        for i, o in enumerate(shown)
    ]
    return [Pad(Grid(cells, columns, gap=8), sides=10, top=4)]


def results(visit: Visit, shop: Shop) -> SitePage:
    """Return the page of search results, of a category, or of the deals."""
    found = shop.find(visit.day, shop.wanted_at(visit.address))
    page, pages = page_number(visit, shop, len(found))
    size = shop.style.per_page
    first = 0 if shop.style.paging == "more" else (page - 1) * size
    shown = list(found[first : page * size])
    sponsored = _advertise(visit, shop, shown)
    body: list[Widget] = [
        Pad(Text(_what(visit, shop, len(found)), "small", "muted"), top=10, bottom=2),
        Pad(_controls(visit, shop), sides=12, top=4, bottom=6),
    ]
    if found:
        body.extend(offer_cards(visit, shop, shown, sponsored))
        body.append(_paging(visit, shop, page, pages))
    else:
        body.append(Empty("Nothing found", "search"))
    return SitePage(body, header(visit, shop))


def page_number(visit: Visit, shop: Shop, found: int) -> tuple[int, int]:
    """Return the current page number and the number of pages."""
    pages = max(1, -(-found // shop.style.per_page))
    text = visit.address.get("page", "1")
    return min(pages, max(1, int(text) if text.isdecimal() else 1)), pages


def _advertise(visit: Visit, shop: Shop, shown: list[Offer]) -> int:
    """Insert an advertisement on some pages, at the rate of the drift; return its index, or -1."""
    url = str(visit.address)
    if not shown or visit.ui.uniform("ad", url) >= visit.ui.ad_rate:
        return -1
    others = [o for o in shop.offers(visit.day).values() if o not in shown]
    if not others:
        return -1
    place = 0 if visit.ui.uniform("ad place", url) < 0.5 else min(2, len(shown))
    shown.insert(place, others[int(visit.ui.uniform("ad product", url) * len(others))])
    return place


def _what(visit: Visit, shop: Shop, count: int) -> str:
    wanted = shop.wanted_at(visit.address)
    number = f"{count} result{'' if count == 1 else 's'}"
    if wanted.words:
        return f"{number} for “{wanted.words}”"
    return f"{lines()[wanted.line].title if wanted.line in lines() else shop.deals} · {number}"


def _controls(visit: Visit, shop: Shop) -> Widget:
    if shop.style.sort == "sheet":
        buttons = [
            Button("Sort", visit.showing("sort"), "soft", icon="sort", high=36),
            Button("Filter", visit.showing("filter"), "soft", icon="filter", high=36),
        ]
        return Row(buttons, gap=8, align="spread")
    now = visit.address.get("sort")
    chips: list[Widget] = [
        Chip(label, visit.opening(visit.address.having(sort=sort, page="")), now == sort)
        for sort, label in SORTS.items()
    ]
    return Flow([*chips, Chip("Filter", visit.showing("filter"))], gap=6)


def sort_sheet(visit: Visit) -> Sheet:
    now = visit.address.get("sort")
    choices = {
        label: visit.opening(visit.address.having(sort=sort, page=""))
        for sort, label in SORTS.items()
    }
    return visit.ui.sheet("Sort by", choices, chosen=SORTS.get(now, SORTS[""]))


def _paging(visit: Visit, shop: Shop, page: int, pages: int) -> Widget:
    def opening(number: int) -> Handler:
        return visit.opening(visit.address.having(page=number))

    if pages == 1:
        return Space(16)
    if shop.style.paging == "more":
        if page == pages:
            return Space(16)
        return Pad(Row([Button("Show more", opening(page + 1), "soft")], align="centre"))
    row: list[Widget] = []
    if page > 1:
        row.append(Button("Previous page", opening(page - 1), "plain"))
    row.append(Text(f"Page {page} of {pages}", "small", "muted"))
    if page < pages:
        row.append(Button("Next page", opening(page + 1), "soft"))
    return Pad(Row(row, gap=6, align="centre"), sides=8)


# Filters ---------------------------------------------------------------------------------------


def band_label(low: int, high: int) -> str:
    if not low:
        return f"Under ${high}"
    return f"Over ${low}" if high > 5000 else f"${low} to ${high}"


def filter_sheet(visit: Visit, shop: Shop) -> Sheet:
    """Return the sheet of all filters; they apply when the results are shown."""
    ui, address = visit.ui, visit.address
    found = shop.find(visit.day, Wanted(words=address.get("q"), line=shop.wanted_at(address).line))
    brands = sorted({offer.product.brand for offer in found})[:8]
    colours = sorted({colour for offer in found for colour in offer.product.colours})

    def chip(key: str, value: str, label: str) -> Chip:
        chosen = str(ui.get(key, address.get(key)))
        return Chip(label, lambda: ui.set(key, "" if chosen == value else value), chosen == value)

    def show() -> None:
        keys = ("price", "stars", "brand", "colour", "stock")
        chosen = {key: str(ui.get(key, address.get(key))) for key in keys}
        visit.open(address.having(page="", **chosen))

    rows: list[Widget] = []
    for title, chips in (
        (
            "Price",
            [chip("price", f"{low}-{high}", band_label(low, high)) for low, high in PRICE_BANDS],
        ),
        ("Rating", [chip("stars", n, f"{n} stars and up") for n in ("3", "4")]),
        ("Brand", [chip("brand", brand, brand) for brand in brands]),
        ("Colour", [chip("colour", colour, colour.title()) for colour in colours]),
        ("Stock", [chip("stock", "1", "In stock only")]),
    ):
        if chips:
            label = Text(title, "small", "muted")
            rows.append(Pad(Column([label, Flow(chips, gap=6)], gap=4), top=0, bottom=8))
    rows.append(Pad(Button("Show results", ui.closing(show))))
    return Sheet("Filter", ui.scroll(rows), on_close=ui.back)
