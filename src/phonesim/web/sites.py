"""Every site of the web, by its domain."""

from __future__ import annotations

from phonesim.web.address import parse
from phonesim.web.readings import ALMANAC, HARBOUR_POST
from phonesim.web.search_engine import FINCH
from phonesim.web.shop_site import ShopSite
from phonesim.web.shops import SHOPS
from phonesim.web.site import Site

SITES: dict[str, Site] = {
    **{domain: ShopSite(shop) for domain, shop in SHOPS.items()},
    ALMANAC.domain: ALMANAC,
    HARBOUR_POST.domain: HARBOUR_POST,
    FINCH.domain: FINCH,
}


def title_of(url: str) -> str:
    """Return the title of a page."""
    if not url:
        return "New tab"
    address = parse(url)
    site = SITES.get(address.domain)
    return site.title(address) if site else address.domain
