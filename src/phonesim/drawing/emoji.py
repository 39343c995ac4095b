"""Emoji drawn with the strokes of our icons: layers of one colour each, in any size.

Only the common ones are drawn, so they need no font and are the same on every machine; any other
is a box with its code point. No package on PyPI has a colour font that Pillow can draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from phonesim.drawing.colors import Color
from phonesim.drawing.icons import GRID, ICONS, SCALE, Pencil, draw_strokes

Layers = tuple[tuple[str, Color], ...]  # strokes in the syntax of `icons`, and their colour

JOINERS = frozenset(
    ["\u200d", "\ufe0e", "\ufe0f", "\u20e3", *(chr(tone) for tone in range(0x1F3FB, 0x1F400))]
)
ZERO_WIDTH_JOINER = "\u200d"

YELLOW, BROWN, RED, WHITE = (255, 204, 60), (92, 60, 20), (226, 48, 60), (255, 255, 255)
BLUE, GREEN, ORANGE, PINK = (56, 132, 232), (58, 160, 80), (244, 140, 40), (240, 110, 150)
GREY, VIOLET, SKIN = (120, 128, 140), (130, 90, 210), (250, 196, 70)

_DISC = ("disc 12 12 11", YELLOW)
_EYES = "disc 8 9.5 1.5 1.9; disc 16 9.5 1.5 1.9"
_GLAD = "arc@1.6 8 10.5 2 190 350; arc@1.6 16 10.5 2 190 350"
_FROWN = "arc@1.6 12 19.5 4.5 210 330"
_SMILE = "arc@1.6 12 12.5 5.5 25 155"
_MOUTH = "blob 6.5 13.5 / 12 14.6 17.5 13.5 / 15.6 18.6 12 19.6 8.4 18.6"
_TEARS = ("blob 5 12 / 3.2 16 5 17.6 6.8 16; blob 19 12 / 17.2 16 19 17.6 20.8 16", BLUE)
_HEARTS = (
    (
        "blob 8 12.6 / 5 9.6 5.4 7 7 6.6 8 8 / 9 6.6 10.6 7 11 9.6; "
        "blob 16 12.6 / 13 9.6 13.4 7 15 6.6 16 8 / 17 6.6 18.6 7 19 9.6"
    ),
    RED,
)
_HEART = "blob 12 21 / 3 13 2.6 8 5 5 9 4.8 12 8 / 15 4.8 19 5 21.4 8 21 13"
_THUMB_UP = "blob 8 11.6 / 11.4 6 11.6 2.8 14.6 3.4 14 9 / 19.6 9.4 20.6 12 19 20 16 21 8 20 /"
_THUMB_DOWN = "blob 8 12.4 / 11.4 18 11.6 21.2 14.6 20.6 14 15 / 19.6 14.6 20.6 12 19 4 16 3 8 4 /"
_STAR = "shape 12 2 15 9 22 9.6 16.6 14.4 18.4 21.6 12 17.6 5.6 21.6 7.4 14.4 2 9.6 9 9"


def _face(features: str, *more: tuple[str, Color]) -> Layers:
    return (_DISC, (features, BROWN), *more)


def _icon(name: str, color: Color) -> Layers:
    return ((ICONS[name], color),)


EMOJI: dict[str, Layers] = {
    "😀": _face(f"{_EYES}; {_MOUTH}"),
    "😄": _face(f"{_GLAD}; {_MOUTH}"),
    "😊": _face(f"{_GLAD}; {_SMILE}", ("disc 5.4 14 1.6; disc 18.6 14 1.6", PINK)),
    "🙂": _face(f"{_EYES}; {_SMILE}"),
    "😉": _face(f"disc 8 9.5 1.5 1.9; line@1.6 14 9.8 18 9.2; {_SMILE}"),
    "😂": _face(f"{_GLAD}; {_MOUTH}", _TEARS),
    "😍": _face(_MOUTH, _HEARTS),
    "😎": _face(f"box 4 7.6 11 11.6 2; box 13 7.6 20 11.6 2; line@1.4 4 8.4 20 8.4; {_SMILE}"),
    "😐": _face(f"{_EYES}; line@1.6 7.5 16 16.5 16"),
    "😕": _face(f"{_EYES}; line@1.6 8 16.6 16 15"),
    "😢": _face(f"{_EYES}; {_FROWN}", ("blob 7 12 / 5.4 15.6 7 17 8.6 15.6", BLUE)),
    "😭": _face(f"{_GLAD}; disc 12 17 3.4 2.6", _TEARS),
    "😡": (
        ("disc 12 12 11", ORANGE),
        (f"{_EYES}; line@1.6 5.6 7 10 8.6; line@1.6 18.4 7 14 8.6; {_FROWN}", BROWN),
    ),
    "😮": _face(f"{_EYES}; disc 12 16.4 2.6 3"),
    "😴": _face("arc@1.6 8 8.6 2 10 170; arc@1.6 16 8.6 2 10 170; disc 12 16.4 1.8 1.6"),
    "❤": ((_HEART, RED),),
    "💙": ((_HEART, BLUE),),
    "💚": ((_HEART, GREEN),),
    "⭐": ((_STAR, YELLOW),),
    "👍": (
        ("box 2.5 11 7 21 1.6", BLUE),
        (_THUMB_UP, SKIN),
    ),
    "👎": (
        ("box 2.5 3 7 13 1.6", BLUE),
        (_THUMB_DOWN, SKIN),
    ),
    "✅": (("box 2 2 22 22 4", GREEN), ("line@2.6 6.5 12.5 10.5 16.5 17.5 8", WHITE)),
    "❌": (("line@4 5 5 19 19; line@4 19 5 5 19", RED),),
    "🎉": (
        ("shape 3 21 8.4 9 15 15.6", VIOLET),
        ("disc 14 5 1.6; disc 20 12 1.6", RED),
        ("disc 19 5 1.6; line@1.6 11 8 12 3.6", YELLOW),
        ("line@1.6 16 13 20.6 16; disc 16.6 9 1.2", BLUE),
    ),
    "🔥": (
        ("blob 12 22 / 4 19 4 12 8 9 8 5 12 2 / 13 7 19 9 20 15 17 20.6", ORANGE),
        ("blob 12 21 / 8 18 9 14 12 11.4 / 14 14.6 16 18", YELLOW),
    ),
    "☀": (("disc 12 12 5.5; rays 12 12 8 11 8", YELLOW),),
    "🌙": (("disc 12 12 10; cut disc 16 9 8.4", YELLOW),),
    "🎂": _icon("cake", PINK),
    "☕": _icon("coffee", BROWN),
    "🚗": _icon("car", RED),
    "🏠": _icon("home", BLUE),
    "🎵": _icon("music", BLUE),
    "📷": _icon("camera", GREY),
    "📞": _icon("phone", GREEN),
    "✉": _icon("mail", BLUE),
    "🔒": _icon("lock", ORANGE),
    "⏰": _icon("alarm", RED),
    "✈": _icon("airplane", BLUE),
    "📍": _icon("location", RED),
    "🛒": _icon("cart", GREY),
}  # fmt: skip


def clusters(text: str) -> Iterator[str]:
    """Yield the emoji of a run. Joined sequences stay together; skin tones and selectors go."""
    cluster, joined = "", False
    for character in text:
        if cluster and not joined and character not in JOINERS:
            yield cluster
            cluster = ""
        if character == ZERO_WIDTH_JOINER or character not in JOINERS or not cluster:
            cluster += character
        joined = character == ZERO_WIDTH_JOINER
    if cluster:
        yield cluster


@lru_cache(maxsize=512)
def emoji_layers(cluster: str, size: int) -> tuple[tuple[NDArray[np.uint8], Color], ...]:
    """Return (mask, colour) layers, bottom first; each mask is [size, size]."""
    return tuple((_mask(strokes, size), color) for strokes, color in EMOJI[cluster])


def _mask(strokes: str, size: int) -> NDArray[np.uint8]:
    image = Image.new("L", (GRID * SCALE, GRID * SCALE))
    draw_strokes(Pencil(ImageDraw.Draw(image)), strokes)
    return np.asarray(image.resize((size, size), Image.Resampling.LANCZOS))
