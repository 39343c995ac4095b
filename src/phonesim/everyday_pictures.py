"""A sheet of the everyday apps: some pages of each, in light and in dark."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta

from PIL import Image

from phonesim.apps.everyday import install
from phonesim.contents.everyday.journeys import CITY_NAMES, TravelSettings, Trip
from phonesim.contents.everyday.meals import FoodOrder
from phonesim.contents.everyday.money import Bill, Ticket
from phonesim.contents.everyday.posts import Post
from phonesim.contents.everyday.threads import ChatThread
from phonesim.drift import NO_DRIFT
from phonesim.phone import Phone
from phonesim.pictures import tile_pictures
from phonesim.state import Plain, Route
from phonesim.system import SystemSettings

Arguments = Callable[[Phone], tuple[Plain, ...]]


def _trip(phone: Phone) -> tuple[Plain, ...]:
    home = phone.facts.one(TravelSettings).home_city
    city = next(name for name in CITY_NAMES if name != home)
    return home, city, (phone.now + timedelta(days=5)).date().isoformat()


PAGES: tuple[tuple[str, str, str, Arguments], ...] = (
    ("Chat", "Chat", "home", lambda p: ()),
    ("A group", "Chat", "thread", lambda p: (_group(p),)),
    ("Who is in it", "Chat", "thread_info", lambda p: (_group(p),)),
    ("Voice note", "Chat", "voice", lambda p: (_group(p),)),
    ("Wallet", "Wallet", "home", lambda p: ()),
    ("A bill", "Wallet", "bill", lambda p: (p.facts.all(Bill)[0].id,)),
    ("Cards", "Wallet", "cards", lambda p: ()),
    ("A ticket", "Wallet", "ticket", lambda p: (p.facts.all(Ticket)[0].id,)),
    ("Travel", "Travel", "home", lambda p: ()),
    ("Results", "Travel", "results", _trip),
    ("Compare", "Travel", "compare", _trip),
    ("A trip", "Travel", "trip", lambda p: (p.facts.all(Trip)[0].id,)),
    ("Feed", "Feed", "home", lambda p: ()),
    ("A post", "Feed", "post", lambda p: (p.facts.all(Post)[0].id,)),
    ("A person", "Feed", "person", lambda p: (p.facts.all(Post)[0].author,)),
    ("New post", "Feed", "new_post", lambda p: ()),
    ("Food", "Food", "home", lambda p: ()),
    ("A restaurant", "Food", "restaurant", lambda p: ("Lotus Bowl",)),
    ("A dish", "Food", "dish", lambda p: ("Lotus Bowl", "Ramen")),
    ("An order", "Food", "order", lambda p: (p.facts.all(FoodOrder)[0].id,)),
)


def _group(phone: Phone) -> int:
    return next(thread.id for thread in phone.facts.all(ChatThread) if thread.group)


def draw_everyday(seed: int) -> Image.Image:
    """Four pages of each everyday app; the odd ones in dark."""
    pictures, captions = [], []
    for number, (caption, app, page, arguments) in enumerate(PAGES):
        phone = Phone(seed, NO_DRIFT)
        install(phone.facts, random.Random(f"everyday/{seed}"))
        dark = (number + number // 4) % 2 == 1
        phone.facts.change(SystemSettings, dark_mode=dark)
        phone.launch(app)
        if page != "home":
            phone.push(Route(page, arguments(phone)))
        pictures.append(Image.fromarray(phone.frame()))
        captions.append(caption)
    return tile_pictures(pictures, captions, columns=8, width=200)
