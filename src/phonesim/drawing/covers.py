"""Abstract pictures: album covers and promotional banners, each style built from a few colours."""

from __future__ import annotations

import random
from collections.abc import Callable

from distrl.records import Pixels
from phonesim.drawing import landscapes
from phonesim.drawing.brush import Brush
from phonesim.drawing.colors import Color, darker, fade, lighter, mixed
from phonesim.drawing.outlines import arc, oval, regular

Palette = tuple[Color, ...]  # the background, then three foreground colours
Style = Callable[[Brush, random.Random, Palette], None]

PALE: Color = (226, 226, 220)
PALETTES: tuple[Palette, ...] = (
    ((32, 30, 62), (240, 112, 96), (250, 200, 110), (94, 120, 210)),
    ((244, 232, 210), (208, 82, 62), (40, 78, 92), (232, 170, 70)),
    ((18, 58, 70), (90, 190, 170), (246, 226, 180), (232, 110, 80)),
    ((250, 214, 214), (214, 70, 110), (80, 50, 110), (250, 150, 110)),
    ((24, 24, 28), PALE, (220, 60, 60), (120, 124, 134)),
    ((222, 236, 232), (46, 110, 120), (244, 150, 90), (60, 60, 90)),
    ((70, 36, 96), (236, 90, 150), (110, 200, 230), (250, 214, 120)),
    ((228, 196, 90), (50, 60, 80), (230, 96, 60), (250, 244, 226)),
)


def _rings(b: Brush, rng: random.Random, p: Palette) -> None:
    x, y = rng.uniform(25, 75), rng.uniform(25, 75)
    for index in range(9, 0, -1):
        b.disc(x, y, index * 9, p[index % 4])


def _stripes(b: Brush, rng: random.Random, p: Palette) -> None:
    with b.turned(rng.choice((-45, -20, 0, 30, 90))):
        y = -50.0
        while y < 150:
            wide = rng.uniform(4, 16)
            b.box(-100, y, 200, y + wide, rng.choice(p))
            y += wide
    size = rng.uniform(16, 28)
    b.disc(50, 50, size + 4, p[0])
    b.disc(50, 50, size, p[1])


def _sun(b: Brush, rng: random.Random, p: Palette) -> None:
    x, y, size = rng.uniform(30, 70), rng.uniform(34, 56), rng.uniform(18, 34)
    sky = mixed(p[0], p[1], 0.35)
    b.band(b.top, b.bottom, fade(p[0], sky, mixed(p[0], p[1], 0.7)))
    b.disc(x, y, size, fade(p[2], p[1]))
    for index in range(rng.randrange(6)):
        down = size * (0.1 + 0.17 * index)
        half = (size * size - down * down) ** 0.5
        b.box(x - half, y + down, x + half, y + down + size * 0.02 * (index + 2), sky)
    b.ridge(landscapes.jagged(b, rng, 84, rng.uniform(10, 30), 10), mixed(p[3], p[0], 0.3))
    b.ridge(landscapes.rolling(b, rng, 88, 3), darker(p[0], 0.4))


def _tiles(b: Brush, rng: random.Random, p: Palette) -> None:
    for row in range(-3, 7):
        for column in range(-3, 7):
            x, y = column * 25, row * 25
            back, front = rng.sample(p, 2)
            b.box(x, y, x + 25, y + 25, back)
            turn = rng.randrange(4)
            at = ((x, y), (x + 25, y), (x + 25, y + 25), (x, y + 25))[turn]
            if rng.random() < 0.7:
                b.polygon([at, *arc(*at, 25, 25, 90 * turn, 90 * turn + 90)], front)
            else:
                b.disc(x + 12.5, y + 12.5, 9, front)


def _waves(b: Brush, rng: random.Random, p: Palette) -> None:
    for index in range(8):
        ink = mixed(p[1 + index % 3], p[0], 0.12 * (index % 3))
        b.ridge(landscapes.rolling(b, rng, b.top + 18 + index * 13, 6), ink)


def _dots(b: Brush, rng: random.Random, p: Palette) -> None:
    x0, y0 = rng.uniform(20, 80), rng.uniform(20, 80)
    for row in range(13):
        for column in range(13):
            x, y = column * 8 + 2, row * 8 + 2
            near = max(0.0, 1 - ((x - x0) ** 2 + (y - y0) ** 2) / 4200)
            b.disc(x, y, 0.7 + 3.4 * near, mixed(p[1], p[2], near))


def _triangles(b: Brush, rng: random.Random, p: Palette) -> None:
    for _ in range(16):
        x, y, size = rng.uniform(0, 100), rng.uniform(0, 100), rng.uniform(10, 38)
        b.polygon(regular(x, y, (size,), 3, rng.uniform(0, 360)), rng.choice(p[1:]), 0.75)


def _record(b: Brush, rng: random.Random, p: Palette) -> None:
    b.polygon([(b.left, b.bottom), (b.right, b.top), (b.right, b.bottom)], p[3])
    x, y = rng.uniform(40, 90), rng.uniform(40, 60)
    for radius in (40, 36, 32, 28, 24):
        b.disc(x, y, radius, (26, 26, 30) if radius % 8 else (44, 44, 50))
    for turn in (20, 200):
        b.polygon([(x, y), *arc(x, y, 40, 40, turn, turn + 25)], (255, 255, 255), 0.14)
    for radius, ink in ((15, p[1]), (10, p[2]), (2, p[0])):
        b.disc(x, y, radius, ink)


def _blobs(b: Brush, rng: random.Random, p: Palette) -> None:
    for ink in (p[1], p[2], p[3], p[1]):
        x, y, size = rng.uniform(10, 90), rng.uniform(10, 90), rng.uniform(16, 34)
        around = oval(x, y, size, size)[:48:6]
        outline = [(px + rng.uniform(-6, 6), py + rng.uniform(-6, 6)) for px, py in around]
        b.blob(outline, fade(lighter(ink, 0.15), ink), 0.92)


STYLES: tuple[Style, ...] = (
    _rings,
    _stripes,
    _sun,
    _tiles,
    _waves,
    _dots,
    _triangles,
    _record,
    _blobs,
)


def draw_cover(name: str, width: int, height: int) -> Pixels:
    rng = random.Random(f"cover/{name}")
    palette, style = rng.choice(PALETTES), rng.choice(STYLES)
    brush = Brush(width, height, palette[0])
    style(brush, rng, palette)
    return brush.pixels()


def draw_banner(name: str, width: int, height: int) -> Pixels:
    """Draw a promotional banner: plain on the left, where text goes, and busy on the right."""
    rng = random.Random(f"banner/{name}")
    _, first, second, third = rng.choice([p for p in PALETTES if p[1] != PALE])
    ground = mixed(first, (40, 30, 90), rng.uniform(0.1, 0.4))
    b = Brush(width, height, fade(lighter(ground, 0.12), darker(ground, 0.2)))
    b.disc(b.right - 30, 50, 92, lighter(ground, 0.16), 0.7)
    b.disc(b.right - 22, 56, 66, mixed(ground, second, 0.5), 0.8)
    for _ in range(26):
        x, y = b.right - rng.uniform(0, 0.6) * (b.right - b.left), rng.uniform(b.top, b.bottom)
        with b.turned(rng.uniform(0, 180), x, y):
            b.box(x - 2.2, y - 1, x + 2.2, y + 1, rng.choice((second, third, (255, 255, 255))))
    subject = rng.randrange(3)
    if subject == 0:
        _gift(b, b.right - 46, second, third)
    elif subject == 1:
        _burst(b, b.right - 46, third)
    else:
        _price_tag(b, b.right - 46, second)
    return b.pixels()


def _gift(b: Brush, x: float, first: Color, second: Color) -> None:
    b.oval(x, 86, 36, 5, (20, 16, 30), 0.35)
    b.box(x - 26, 44, x + 26, 84, fade(first, darker(first, 0.2)), 2)
    b.box(x - 30, 34, x + 30, 48, fade(lighter(first, 0.2), first), 2)
    b.box(x - 5, 34, x + 5, 84, second)
    for side in (-1, 1):
        bow = [(x, 34), (x + side * 10, 18), (x + side * 22, 20), (x + side * 18, 32)]
        b.blob(bow, second)
        b.blob([(px * 0.6 + x * 0.4, py * 0.6 + 12.5) for px, py in bow], darker(second, 0.3))
    b.disc(x, 33, 4.4, lighter(second, 0.2))


def _burst(b: Brush, x: float, color: Color) -> None:
    b.polygon(regular(x, 52, (38, 31), 32, 0), darker(color, 0.25))
    b.polygon(regular(x, 50, (38, 31), 32, 0), color)
    b.ring(x, 50, 25, 25, _readable_on(color), 1.4)
    _percent(b, x, 50, _readable_on(color))


def _price_tag(b: Brush, x: float, color: Color) -> None:
    with b.turned(-22, x, 50):
        tag = [(x - 40, 50), (x - 24, 28), (x + 38, 28), (x + 38, 72), (x - 24, 72)]
        b.polygon([(px + 1.5, py + 3) for px, py in tag], (20, 16, 30), 0.35)
        b.polygon(tag, fade(lighter(color, 0.2), color))
        b.disc(x - 25, 50, 4, darker(color, 0.5))
        _percent(b, x + 9, 50, _readable_on(color))


def _percent(b: Brush, x: float, y: float, ink: Color) -> None:
    b.line([(x - 9, y + 13), (x + 9, y - 13)], ink, 4.4)
    b.ring(x - 9, y - 8, 4.6, 4.6, ink, 4)
    b.ring(x + 9, y + 8, 4.6, 4.6, ink, 4)


def _readable_on(color: Color) -> Color:
    return (255, 255, 255) if sum(color) < 480 else darker(color, 0.7)
