"""Pictures of things to buy, by category and colour, on a light background with a soft shadow.

The key is "CATEGORY:COLOUR:SEED"; the seed varies small details (backdrop, second colour, mirror).
An unknown category gives a parcel.
"""

from __future__ import annotations

import random

from distrl.records import Pixels
from phonesim.drawing.brush import Brush
from phonesim.drawing.colors import Color
from phonesim.drawing.product_devices import DEVICES
from phonesim.drawing.product_home import HOME
from phonesim.drawing.product_outdoors import OUTDOORS
from phonesim.drawing.product_tones import CARDBOARD, Drawing, Tones

COLORS: dict[str, Color] = {
    "black": (52, 54, 62),
    "white": (240, 240, 238),
    "red": (206, 50, 50),
    "blue": (48, 102, 192),
    "green": (56, 142, 90),
    "yellow": (240, 192, 56),
    "pink": (236, 134, 168),
    "grey": (146, 152, 160),
    "brown": (134, 92, 62),
    "orange": (236, 126, 46),
    "purple": (126, 82, 176),
}
ACCENTS = ("orange", "blue", "green", "red", "yellow", "pink", "purple")
BACKDROPS: tuple[Color, ...] = (
    (247, 247, 249),
    (250, 247, 241),
    (240, 246, 250),
    (244, 248, 242),
    (250, 243, 245),
)


def _parcel(b: Brush, t: Tones) -> None:
    b.polygon([(50, 22), (86, 36), (50, 52), (14, 36)], CARDBOARD.light)
    b.polygon([(14, 36), (50, 52), (50, 90), (14, 72)], CARDBOARD.base)
    b.polygon([(86, 36), (50, 52), (50, 90), (86, 72)], CARDBOARD.dark)
    b.polygon([(30, 29.5), (38, 26.5), (74, 41.5), (74, 52), (66, 55.5), (66, 45)], t.base)
    b.box(20, 56, 32, 66, (250, 250, 248), 1)


DRAWINGS: dict[str, Drawing] = {**DEVICES, **HOME, **OUTDOORS}


def draw_product(name: str, width: int, height: int) -> Pixels:
    category, color = (*name.split(":"), "")[:2]
    rng = random.Random(f"product/{name}")
    base = COLORS.get(color) or COLORS[rng.choice(list(COLORS))]
    accent = rng.choice([name for name in ACCENTS if name != color])
    backdrop = rng.choice(BACKDROPS)
    if color == "white":  # pale products need a contrasting backdrop
        backdrop = (221, 228, 236)
    brush = Brush(width, height, backdrop)
    brush.glow(50, 88, 46, 9, (96, 100, 112), 0.45)
    tones = Tones.of(base, COLORS[accent], rng.randrange(4))
    DRAWINGS.get(category, _parcel)(brush, tones)
    return brush.pixels()
