"""A shop as a web site: maps addresses to pages, and adds cookie and newsletter banners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from phonesim.drawing.colors import Color
from phonesim.drawing.theme import Theme
from phonesim.toolkit.boxes import Column, Pad, Row
from phonesim.toolkit.controls import Button
from phonesim.toolkit.modals import Dialog, Menu, Sheet
from phonesim.toolkit.rows import Empty
from phonesim.toolkit.texts import Text
from phonesim.toolkit.widget import Widget
from phonesim.web import (
    shop_account,
    shop_checkout,
    shop_front,
    shop_header,
    shop_product,
    shop_results,
)
from phonesim.web.address import Address
from phonesim.web.bands import Band
from phonesim.web.catalogue import by_slug, lines
from phonesim.web.shop import Shop
from phonesim.web.site import SitePage, Visit, site_theme

NOTICE_SHARE = 0.25  # of the advertisement rate: the share of shops that ask to subscribe
PAGES: dict[str, Callable[[Visit, Shop], SitePage]] = {
    "": shop_front.home,
    "find": shop_header.find_page,
    "search": shop_results.results,
    "c": shop_results.results,
    "deals": shop_results.results,
    "categories": shop_front.categories,
    "p": shop_product.product_page,
    "cart": shop_checkout.cart_page,
    "checkout": shop_checkout.checkout_page,
    "wishlist": shop_account.wish_page,
    "orders": shop_account.orders_page,
    "account": shop_account.account_page,
    "help": shop_account.help_page,
}
TITLES = {
    "find": "Search",
    "categories": "Categories",
    "checkout": "Checkout",
    "wishlist": "Wish list",
    "orders": "Orders",
    "account": "Account",
    "help": "Delivery and returns",
}


@dataclass(frozen=True, slots=True)
class ShopSite:
    """The site of one shop."""

    shop: Shop

    @property
    def domain(self) -> str:
        return self.shop.domain

    @property
    def name(self) -> str:
        return self.shop.name

    @property
    def icon(self) -> str:
        return self.shop.icon

    @property
    def color(self) -> Color:
        return self.shop.color

    def look(self, phone_theme: Theme) -> Theme:
        style = self.shop.style
        return site_theme(phone_theme, self.shop.color, dark_too=style.dark_too, paper=style.paper)

    def title(self, address: Address) -> str:
        shop, (kind, name) = self.shop, (*address.path, "", "")[:2]
        product = by_slug().get(name) if kind == "p" else None
        if product:
            return f"{product.name} – {shop.name}"
        if kind == "search":
            return f"{address.get('q')} – {shop.name}"
        if kind == "c" and name in lines():
            return f"{lines()[name].title} – {shop.name}"
        special = {"cart": shop.cart, "deals": shop.deals}
        title = TITLES.get(kind) or special.get(kind)
        return f"{title} – {shop.name}" if title else shop.name

    def page(self, visit: Visit) -> SitePage:
        kind = visit.address.path[0] if visit.address.path else ""
        page = self._page(visit, kind)
        return self._with_banners(visit, page, kind)

    def _page(self, visit: Visit, kind: str) -> SitePage:
        if kind == "orders" and len(visit.address.path) > 1:
            return shop_account.order_page(visit, self.shop)
        if kind in PAGES:
            return PAGES[kind](visit, self.shop)
        return SitePage([Empty("This page is gone", "info")], shop_header.header(visit, self.shop))

    def window(self, visit: Visit, name: str) -> Dialog | Menu | Sheet:
        match name:
            case "sort":
                return shop_results.sort_sheet(visit)
            case "filter":
                return shop_results.filter_sheet(visit, self.shop)
            case "empty_cart":
                return shop_checkout.empty_cart(visit, self.shop)
            case "cancel_order":
                return shop_account.cancel_order(visit, self.shop)
            case _:
                return shop_header.menu(visit, self.shop)

    # What it asks visitors ---------------------------------------------------------------------

    def _with_banners(self, visit: Visit, page: SitePage, kind: str) -> SitePage:
        ui, domain = visit.ui, self.shop.domain
        if ui.uniform("cookies", domain) < ui.ad_rate and not visit.answered("cookies"):
            strip = self._cookies(visit)
            page = replace(page, foot=Column([strip, page.foot]) if page.foot else strip)
        asks = ui.uniform("newsletter", domain) < ui.ad_rate * NOTICE_SHARE
        if asks and kind in ("search", "p") and not visit.answered("newsletter"):
            page = replace(page, notice=self._newsletter(visit))
        return page

    def _cookies(self, visit: Visit) -> Widget:
        buttons = [
            Button("Necessary only", lambda: visit.answer("cookies"), "plain", high=32),
            Button("Accept cookies", lambda: visit.answer("cookies"), "soft", high=32),
        ]
        words = Text(f"{self.shop.name} would like to use cookies.", "tiny", "muted")
        return Band(
            Pad(Column([words, Row(buttons, align="right")], gap=2), sides=12, top=2, bottom=2)
        )

    def _newsletter(self, visit: Visit) -> Dialog:
        def subscribe() -> None:
            visit.answer("newsletter")
            shop_account.set_newsletter(visit, self.shop, True)

        return Dialog(
            f"News from {self.shop.name}?",
            [Text("Offers and new arrivals, once a week.", "body", "muted")],
            [
                Button("No thanks", lambda: visit.answer("newsletter"), "plain"),
                Button("Subscribe", subscribe, "filled"),
            ],
            on_close=None,
            window="popup",
        )
