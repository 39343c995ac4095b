"""The six shops of the web, each with its own range, look and behaviour."""

from __future__ import annotations

from phonesim.web.product_lines import LINES
from phonesim.web.shop import Shop, Style


def _of(*departments: str, also: tuple[str, ...] = ()) -> tuple[str, ...]:
    return tuple(line.key for line in LINES if line.department in departments or line.key in also)


MARLOWE = Shop(
    domain="marlowe.shop",
    name="Marlowe",
    tagline="Nearly everything, by tomorrow",
    icon="store",
    color=(24, 74, 122),
    kinds=tuple(sorted((line.key for line in LINES), key=lambda key: (len(key) % 4, key))),
    share=0.72,
    style=Style(
        header="solid", cards="grid", sort="sheet", paging="pages", buy_at_foot=False,
        search_icon=False, per_page=6, home=("banner", "categories", "deals", "popular"),
        paper=(240, 242, 246),
    ),
    search_label="Search Marlowe",
)  # fmt: skip
OHMSTEAD = Shop(
    domain="ohmstead.shop",
    name="OHMSTEAD",
    tagline="Electronics, explained",
    icon="developer",
    color=(196, 52, 36),
    kinds=_of("Electronics", also=("gamepad",)),
    share=1.0,
    style=Style(
        header="plain", cards="list", sort="sheet", paging="pages", buy_at_foot=True,
        search_icon=False, per_page=6, home=("chips", "banner", "new", "popular"), dark_too=True,
    ),
    search_label="Find a device",
    cart="Basket",
    deals="Hot deals",
)  # fmt: skip
LINNET = Shop(
    domain="linnet.shop",
    name="Linnet",
    tagline="Wear it for years",
    icon="bag",
    color=(122, 44, 84),
    kinds=_of("Fashion", also=("backpack", "watch", "blanket", "pillow")),
    share=1.0,
    style=Style(
        header="centred", cards="tall", sort="chips", paging="more", buy_at_foot=True,
        search_icon=True, per_page=6, home=("banner", "new", "chips", "deals"),
        paper=(253, 250, 247),
    ),
    search_label="What are you looking for?",
    cart="Bag",
    deals="Sale",
)  # fmt: skip
HEARTHWELL = Shop(
    domain="hearthwell.shop",
    name="Hearthwell",
    tagline="For home and garden",
    icon="leaf",
    color=(44, 108, 72),
    kinds=_of("Home", "Kitchen"),
    share=1.0,
    style=Style(
        header="solid", cards="wide", sort="sheet", paging="more", buy_at_foot=False,
        search_icon=False, per_page=6, home=("categories", "banner", "popular", "deals"),
        paper=(250, 251, 246), dark_too=True,
    ),
    search_label="Search the house",
    cart="Basket",
    deals="Bargains",
)  # fmt: skip
CAIRNFIELD = Shop(
    domain="cairnfield.shop",
    name="Cairnfield",
    tagline="Gear for going outside",
    icon="bike",
    color=(206, 98, 18),
    kinds=_of("Outdoor", also=("shoes", "jacket", "hat", "watch", "umbrella", "knife", "camera")),
    share=1.0,
    style=Style(
        header="solid", cards="trio", sort="chips", paging="pages", buy_at_foot=False,
        search_icon=True, per_page=6, home=("banner", "popular", "categories", "new"),
        paper=(246, 244, 240),
    ),
    search_label="Search gear",
    deals="Last chance",
)  # fmt: skip
QUILLMOOR = Shop(
    domain="quillmoor.shop",
    name="Quillmoor",
    tagline="Books, games and evenings in",
    icon="book",
    color=(74, 58, 140),
    kinds=_of("Games & books", also=("lamp", "mug", "clock", "chair", "headphones")),
    share=1.0,
    style=Style(
        header="centred", cards="grid", sort="sheet", paging="more", buy_at_foot=True,
        search_icon=False, per_page=6, home=("new", "categories", "banner", "popular"),
        paper=(251, 248, 240),
    ),
    search_label="Search titles and games",
    deals="Offers",
)  # fmt: skip

SHOPS: dict[str, Shop] = {
    shop.domain: shop for shop in (MARLOWE, OHMSTEAD, LINNET, HEARTHWELL, CAIRNFIELD, QUILLMOOR)
}
HELD_OUT_SHOP = CAIRNFIELD
