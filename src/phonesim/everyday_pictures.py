"""Sheets of the everyday apps: in light and in dark, in any language, at any density."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from PIL import Image

from phonesim.apps.everyday import install
from phonesim.contents.everyday.journeys import CITY_NAMES, TravelSettings, Trip
from phonesim.contents.everyday.meals import FoodOrder
from phonesim.contents.everyday.money import Bill, Ticket
from phonesim.contents.everyday.posts import Post
from phonesim.contents.everyday.threads import ChatThread
from phonesim.display import STANDARD, Display
from phonesim.drift import NO_DRIFT
from phonesim.languages.language import FOLDERS
from phonesim.phone import Phone
from phonesim.pictures import tile_pictures
from phonesim.state import Plain, Route
from phonesim.system import SystemSettings

DENSEST = 3
CORNER = (0, 24, 240, 224)  # left, top, right and bottom, in units
SHOWN = (720, 600)
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


def draw_everyday(seed: int, language: str = "English", density: int = 1) -> Image.Image:
    """Four pages of each everyday app; every other one in dark."""
    pictures = [_draw(seed, number, language, density) for number in range(len(PAGES))]
    captions = [caption for caption, _, _, _ in PAGES]
    return tile_pictures(pictures, captions, columns=7, width=200)


def draw_everyday_densities(seed: int) -> Image.Image:
    """A corner of each app at density 1, enlarged, and the same at density 3; languages change."""
    pictures, captions = [], []
    for number, language in zip(range(0, len(PAGES), 4), (*FOLDERS, "German"), strict=True):
        for density in (1, DENSEST):
            drawn, (left, top, right, bottom) = _draw(seed, number, language, density), CORNER
            edges = (left * density, top * density, right * density, bottom * density)
            corner = drawn.crop(edges)
            enlarged = corner.resize(SHOWN, Image.Resampling.NEAREST)
            pictures.append(enlarged if density == 1 else corner)
            captions.append(f"{PAGES[number][1]}, {language}, density {density}")
    return tile_pictures(pictures, captions, columns=4, width=SHOWN[0] // 2)


def _draw(seed: int, number: int, language: str, density: int) -> Image.Image:
    _, app, page, arguments = PAGES[number]
    display = Display(density * STANDARD.width, density * STANDARD.height, density)
    phone = Phone(seed, replace(NO_DRIFT, languages=(language,)), display)
    install(phone.facts, random.Random(f"everyday/{seed}"))
    phone.facts.change(SystemSettings, dark_mode=(number + number // 4) % 2 == 1)
    phone.launch(app)
    if page != "home":
        phone.push(Route(page, arguments(phone)))
    return Image.fromarray(phone.frame())
