"""Wallpapers of the home screen: quiet pictures, dark enough for white labels on top."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from distrl.records import Pixels
from phonesim.drawing import landscapes
from phonesim.drawing.brush import Brush
from phonesim.drawing.colors import (
    WHITE,
    Blend,
    Color,
    darker,
    fade,
    fade_across,
    mixed,
)
from phonesim.drawing.outlines import oval


class Wallpaper:
    """What a wallpaper is drawn with: a brush, a seeded rng, and the conversion of heights."""

    def __init__(self, name: str, width: int, height: int, background: Blend) -> None:
        self.brush = Brush(width, height, background)
        self.rng = random.Random(f"wallpaper/{name}")

    def at(self, share: float) -> float:
        """Return the y coordinate, in brush units, at that share of the way down."""
        return self.brush.top + share * (self.brush.bottom - self.brush.top)

    def tall(self, share: float) -> float:
        return share * (self.brush.bottom - self.brush.top)


def _dunes(w: Wallpaper) -> None:
    b = w.brush
    b.glow(68, w.at(0.44), 60, 60, (255, 190, 120), 0.55)
    b.disc(68, w.at(0.44), 10, (250, 206, 150))
    inks: tuple[tuple[Color, Color], ...] = (
        ((176, 100, 92), (128, 66, 84)),
        ((188, 98, 70), (112, 52, 70)),
        ((150, 70, 60), (84, 38, 58)),
        ((106, 48, 56), (44, 22, 40)),
    )
    for index, (crest, foot) in enumerate(inks):
        line = landscapes.rolling(b, w.rng, w.at(0.52 + 0.115 * index), w.tall(0.035))
        b.ridge([(x, y - 1.2) for x, y in line], mixed(crest, (255, 210, 160), 0.28))
        b.ridge(line, fade(crest, foot))


def _lake(w: Wallpaper) -> None:
    b, shore = w.brush, w.at(0.56)
    b.glow(30, w.at(0.36), 70, 50, (250, 196, 170), 0.45)
    far = landscapes.jagged(b, w.rng, shore - w.tall(0.04), w.tall(0.15), 9)
    near = landscapes.jagged(b, w.rng, shore, w.tall(0.08), 7)
    for line, ink in ((far, (78, 98, 140)), (near, (44, 66, 106))):
        b.ridge(line, fade(ink, mixed(ink, (130, 150, 190), 0.35)))
    b.band(shore, b.bottom, fade((92, 116, 160), (40, 62, 106), (14, 26, 54)))
    for line, ink in ((far, (70, 92, 138)), (near, (40, 62, 104))):
        mirrored = [(x, shore + (shore - y) * 0.8) for x, y in line]
        b.polygon([*mirrored, (b.right + 20, shore), (b.left - 20, shore)], ink, 0.55)
    landscapes.ripples(b, w.rng, shore + 2, (176, 196, 226), 70, 32)
    landscapes.pines(b, w.rng, b.bottom + 4, (18, 36), (10, 20, 36), 7)


def _aurora(w: Wallpaper) -> None:
    b = w.brush
    landscapes.stars(b, w.rng, 120, w.at(0.7))
    for color, level, phase in (
        ((120, 80, 190), 0.22, 0.4),
        ((36, 170, 150), 0.34, 2.6),
        ((70, 220, 150), 0.46, 5.2),
    ):
        for step in range(-3, 29):  # a curtain of soft rays that follows a wave
            x, bright = step * 4.0, 0.20 + 0.12 * math.sin(step * 1.1 + phase)
            y = w.at(level) + 7 * math.sin(step * 0.24 + phase) + 3 * math.sin(step * 0.53)
            b.glow(x, y - w.tall(0.07), 6, w.tall(0.17), color, bright)
            b.glow(x, y + w.tall(0.05), 6, w.tall(0.045), mixed(color, WHITE, 0.3), bright)
    b.ridge(landscapes.jagged(b, w.rng, w.at(0.78), w.tall(0.09), 9), (14, 34, 50))
    b.ridge(landscapes.rolling(b, w.rng, w.at(0.85), w.tall(0.02)), fade((8, 22, 34), (4, 10, 18)))
    landscapes.pines(b, w.rng, w.at(0.88), (10, 24), (4, 13, 22), 5)


def _paper(w: Wallpaper) -> None:
    """Draw sheets of cut paper, each casting a shadow on the one behind."""
    b = w.brush
    inks: tuple[Color, ...] = (
        (34, 92, 116),
        (38, 116, 126),
        (78, 142, 130),
        (190, 132, 82),
        (176, 92, 72),
        (112, 54, 70),
    )
    for index, ink in enumerate(inks):
        line = landscapes.rolling(b, w.rng, w.at(0.18 + 0.135 * index), w.tall(0.045))
        for lift, share in ((3.4, 0.10), (2.2, 0.14), (1.1, 0.2)):
            b.ridge([(x, y - lift) for x, y in line], (8, 16, 26), share)
        b.ridge(line, fade(ink, darker(ink, 0.25)))


def _hills(w: Wallpaper) -> None:
    b = w.brush
    b.glow(26, w.at(0.30), 70, 60, (250, 232, 180), 0.38)
    inks: tuple[Color, ...] = (
        (94, 134, 128),
        (78, 128, 112),
        (54, 108, 84),
        (36, 84, 62),
        (20, 56, 44),
    )
    for index, ink in enumerate(inks):
        level = 0.42 + 0.115 * index
        line = landscapes.rolling(b, w.rng, w.at(level), w.tall(0.03))
        mist = mixed(ink, (190, 210, 190), 0.34)
        if 0 < index < 4:
            landscapes.wooded(b, w.rng, line, (4 + index, 8 + index), ink)
        b.ridge(line, fade(ink, mist if index < 4 else (8, 28, 26)))


def _night(w: Wallpaper) -> None:
    b = w.brush
    landscapes.stars(b, w.rng, 170, w.at(0.72))
    b.glow(72, w.at(0.34), 40, 40, (150, 170, 230), 0.5)
    b.disc(72, w.at(0.34), 9, (236, 236, 220))
    for x, y, r in ((69, -2, 2.0), (75, 2.5, 1.4), (73, -4.5, 1.1), (69.5, 3.5, 1.0)):
        b.disc(x, w.at(0.34) + y, r, (206, 206, 196))
    for index, ink in enumerate(((52, 58, 112), (36, 42, 88), (20, 24, 58))):
        line = landscapes.jagged(b, w.rng, w.at(0.70 + 0.09 * index), w.tall(0.09), 8)
        b.ridge(line, fade(ink, mixed(ink, (90, 96, 160), 0.25)))
    foot = w.at(0.95)
    b.ridge(landscapes.rolling(b, w.rng, foot, w.tall(0.012)), (10, 12, 30))
    b.polygon(
        [(20, foot + 2), (20, foot - 5), (25, foot - 9), (30, foot - 5), (30, foot + 2)], (8, 8, 20)
    )
    b.box(23.5, foot - 4.5, 26.5, foot - 1.5, (255, 206, 120))


def _bloom(w: Wallpaper) -> None:
    """Draw three large flowers, petal over petal."""
    b = w.brush
    flowers = (
        (88, w.at(0.22), 34, (132, 60, 128)),
        (10, w.at(0.52), 40, (170, 62, 112)),
        (76, w.at(0.86), 52, (198, 84, 96)),
    )
    for x, y, size, color in flowers:
        b.glow(x, y, size * 1.6, size * 1.6, color, 0.5)
        for ring, count in ((1.0, 9), (0.72, 8), (0.45, 7)):
            ink = mixed(color, (255, 196, 170), (1.0 - ring) * 0.5)
            for petal in range(count):
                with b.turned(360 / count * petal + 40 * ring, x, y):
                    reach = size * ring
                    shape = [(x, y), (x + reach * 0.3, y - reach * 0.62), (x, y - reach)]
                    shape.append((x - reach * 0.3, y - reach * 0.62))
                    b.blob([(px + 0.8, py + 0.8) for px, py in shape], darker(ink, 0.45), 0.4)
                    b.blob(shape, fade(ink, darker(ink, 0.28)), 0.92)
        b.disc(x, y, size * 0.12, fade((250, 206, 120), (206, 130, 70)))


def _slate(w: Wallpaper) -> None:
    """Draw folded planes of dark stone with one warm edge of light."""
    b = w.brush
    bands = 6
    for index in range(bands):
        y = w.at(index / bands * 1.15 - 0.05)
        slant = w.tall(0.13) * (1 if index % 2 else -1) + w.rng.uniform(-6, 6)
        shade = 62 - index * 7
        ink = fade_across((shade, shade + 6, shade + 14), (shade - 16, shade - 12, shade - 4))
        edge = [(b.left, y - slant / 2), (b.right, y + slant / 2)]
        b.ridge([(x, p - 2.4) for x, p in edge], (10, 12, 16), 0.25)
        b.ridge([(x, p - 0.5) for x, p in edge], (122, 132, 148) if index != 3 else (226, 150, 92))
        b.ridge(edge, ink if index % 2 else Blend(ink.colors[::-1], across=True))
    b.polygon(oval(50, w.at(0.30), 26, 26), (255, 255, 255), 0.05)
    b.polygon(oval(50, w.at(0.30), 17, 17), (255, 255, 255), 0.05)


WALLPAPERS: dict[str, tuple[Blend, Callable[[Wallpaper], None]]] = {
    "dunes": (fade((58, 44, 92), (150, 84, 110), (222, 140, 104), (226, 150, 104)), _dunes),
    "lake": (fade((28, 44, 92), (74, 92, 150), (176, 140, 164), (216, 166, 158)), _lake),
    "aurora": (fade((6, 10, 30), (10, 26, 54), (16, 60, 78), (20, 70, 80)), _aurora),
    "paper": (fade((20, 52, 84), (30, 76, 104)), _paper),
    "hills": (fade((40, 80, 108), (84, 124, 130), (148, 158, 134), (124, 146, 120)), _hills),
    "night": (fade((8, 10, 34), (24, 28, 76), (66, 62, 124), (96, 84, 140)), _night),
    "bloom": (fade((48, 26, 74), (70, 30, 76), (64, 22, 52)), _bloom),
    "slate": (fade((66, 72, 84), (40, 44, 54)), _slate),
}


def draw_wallpaper(name: str, width: int, height: int) -> Pixels:
    background, paint = WALLPAPERS.get(name) or WALLPAPERS["slate"]
    wallpaper = Wallpaper(name, width, height, background)
    paint(wallpaper)
    return wallpaper.brush.pixels()
