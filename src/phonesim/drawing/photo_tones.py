"""Shared by all photograph scenes: the type of a scene, and colours of sky, people and things."""

from __future__ import annotations

import random
from collections.abc import Callable

from phonesim.drawing.brush import Brush
from phonesim.drawing.colors import Blend, Color, fade

Scene = Callable[[Brush, random.Random], None]

SKIES: tuple[Blend, ...] = (
    fade((88, 152, 220), (190, 222, 242)),
    fade((110, 176, 228), (226, 238, 240)),
    fade((120, 150, 190), (222, 214, 208)),
    fade((98, 132, 196), (246, 206, 178)),
)
SKIN: tuple[Color, ...] = (
    (250, 218, 190),
    (238, 194, 158),
    (214, 160, 120),
    (176, 122, 84),
    (134, 88, 60),
    (96, 62, 46),
)
HAIR: tuple[Color, ...] = (
    (42, 32, 30),
    (84, 56, 38),
    (134, 88, 50),
    (206, 160, 92),
    (150, 62, 40),
    (176, 176, 180),
)
CLOTHES: tuple[Color, ...] = (
    (58, 98, 168),
    (198, 76, 68),
    (70, 140, 108),
    (232, 178, 70),
    (120, 86, 160),
    (60, 66, 82),
    (228, 130, 150),
    (236, 232, 222),
)
BRIGHT: tuple[Color, ...] = (
    (226, 72, 72),
    (240, 150, 54),
    (246, 204, 70),
    (86, 170, 104),
    (64, 132, 206),
    (146, 92, 190),
    (236, 120, 160),
)
