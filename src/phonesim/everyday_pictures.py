"""Sheets of the everyday apps, pixel by pixel: light and dark, each language, both densities.

`draw_everyday` shows two pages of each app in one language; `draw_everyday_densities` the same part
of one app's page at density 1, where a pixel is drawn three times as large, and at density 3.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from PIL import Image

from phonesim.apps.everyday import install
from phonesim.contents.everyday.journeys import (
    CITY_NAMES,
    TravelSettings,
    Trip,
    means_between,
)
from phonesim.contents.everyday.posts import Comment, Post
from phonesim.contents.everyday.threads import ChatThread
from phonesim.display import STANDARD, Display
from phonesim.drift import NO_DRIFT
from phonesim.languages.language import language as words
from phonesim.phone import Phone
from phonesim.pictures import tile_pictures
from phonesim.state import Plain, Route
from phonesim.system import SystemSettings

DENSEST = 3
THEMES: dict[str, tuple[str, str]] = {  # how a language calls light and dark
    "English": ("light", "dark"),
    "German": ("hell", "dunkel"),
    "Spanish": ("claro", "oscuro"),
    "Chinese": ("浅色", "深色"),
}
Arguments = Callable[[Phone], tuple[Plain, ...]]


def _trip(phone: Phone) -> tuple[Plain, ...]:
    home = phone.facts.one(TravelSettings).home_city
    near = [name for name in CITY_NAMES if len(set(means_between(home, name))) == 3]
    city = next(name for name in (*near, *CITY_NAMES) if name != home)
    return home, city, (phone.now + timedelta(days=5)).date().isoformat()


PAGES: dict[str, tuple[tuple[str, Arguments], tuple[str, Arguments]]] = {  # two of each app
    "Chat": (("home", lambda p: ()), ("thread", lambda p: (_group(p),))),
    "Wallet": (("home", lambda p: ()), ("cards", lambda p: ())),
    "Travel": (("results", _trip), ("trip", lambda p: (_coming(p),))),
    "Feed": (("home", lambda p: ()), ("post", lambda p: (_pictured(p),))),
    "Food": (("home", lambda p: ()), ("restaurant", lambda p: ("Lotus Bowl",))),
}
PARTS: dict[str, tuple[int, int, int]] = {  # index of the page, top and bottom of the part in units
    "Chat": (0, 24, 170), "Wallet": (0, 24, 192), "Travel": (0, 24, 242), "Feed": (0, 115, 341),
    "Food": (0, 24, 232),
}  # fmt: skip


def _group(phone: Phone) -> int:
    return next(thread.id for thread in phone.facts.all(ChatThread) if thread.group)


def _coming(phone: Phone) -> int:
    trips = [trip for trip in phone.facts.all(Trip) if trip.depart > phone.now]
    return min(trips, key=lambda trip: trip.depart).id


def _pictured(phone: Phone) -> int:
    """Return a post with a picture, with comments if there is such a one."""
    said = [comment.post for comment in phone.facts.all(Comment)]
    posts = [post for post in phone.facts.all(Post) if post.picture]
    return max(posts, key=lambda post: (post.id in said, -post.id)).id


def draw_everyday(seed: int, language: str = "English", density: int = 1) -> Image.Image:
    """Two pages of each everyday app, each in light and in dark; a column for each app."""
    pictures, captions = [], []
    for number, dark in itertools.product(range(2), (False, True)):
        for app in PAGES:
            pictures.append(_draw(seed, app, number, language, dark, density))
            captions.append(f"{words(language).tr(app)} · {_theme(language, dark)}")
    return tile_pictures(pictures, captions, len(PAGES), density * STANDARD.width)


def draw_everyday_densities(seed: int, app: str) -> Image.Image:
    """A part of a page at density 1 and 3, a row for each language, every other one in dark."""
    (number, top, bottom), wide = PARTS[app], STANDARD.width
    pictures, captions = [], []
    for row, language in enumerate(THEMES):
        dark = row % 2 == 1
        for density in (1, DENSEST):
            box = (0, top * density, wide * density, bottom * density)
            part = _draw(seed, app, number, language, dark, density).crop(box)
            size = (DENSEST * wide, DENSEST * (bottom - top))
            pictures.append(part.resize(size, Image.Resampling.NEAREST))
            captions.append(f"{words(language).tr(app)} · {_theme(language, dark)} · @{density}")
    return tile_pictures(pictures, captions, 2, DENSEST * wide)


def _theme(language: str, dark: bool) -> str:
    return THEMES.get(language, THEMES["English"])[dark]


def _draw(seed: int, app: str, number: int, language: str, dark: bool, density: int) -> Image.Image:
    page, arguments = PAGES[app][number]
    display = Display(density * STANDARD.width, density * STANDARD.height, density)
    phone = Phone(seed, replace(NO_DRIFT, languages=(language,)), display)
    install(phone.facts, random.Random(f"everyday/{seed}"))
    phone.facts.change(SystemSettings, dark_mode=dark)
    phone.launch(app)
    if page != "home":
        phone.push(Route(page, arguments(phone)))
    return Image.fromarray(phone.frame())
