"""Scenes for photographs with one subject: people, animals, food, flowers, papers."""

from __future__ import annotations

import random

from phonesim.drawing.brush import Brush
from phonesim.drawing.colors import Color, darker, fade, lighter, mixed
from phonesim.drawing.outlines import arc, oval
from phonesim.drawing.photo_tones import BRIGHT, Scene
from phonesim.drawing.portraits import draw_person


def _blurred(b: Brush, rng: random.Random, color: Color) -> None:
    """Draw a background out of focus."""
    b.band(b.top, b.bottom, fade(lighter(color, 0.25), darker(color, 0.25)))
    for _ in range(14):
        x, y = rng.uniform(b.left, b.right), rng.uniform(b.top, b.bottom)
        ink = mixed(color, rng.choice(BRIGHT), 0.35)
        b.disc(x, y, rng.uniform(5, 14), lighter(ink, 0.3), 0.25)


def _table(b: Brush, rng: random.Random) -> None:
    wood: Color = rng.choice(((176, 126, 82), (206, 190, 168), (120, 88, 66), (196, 206, 208)))
    b.band(b.top, b.bottom, fade(lighter(wood, 0.1), darker(wood, 0.15)))
    y = b.top + rng.uniform(2, 10)
    while y < b.bottom:
        b.band(y, y + 0.7, darker(wood, 0.25))
        y += rng.uniform(12, 18)


def _portrait(b: Brush, rng: random.Random) -> None:
    _blurred(b, rng, rng.choice(((120, 160, 130), (150, 150, 176), (196, 160, 120))))
    draw_person(b, rng)


def _cat(b: Brush, rng: random.Random) -> None:
    _blurred(b, rng, rng.choice(((196, 176, 160), (140, 166, 180), (170, 186, 150))))
    coats: tuple[Color, ...] = ((226, 150, 80), (96, 98, 106), (240, 234, 224), (60, 56, 58))
    fur, eyes = rng.choice(coats), rng.choice(((150, 190, 90), (220, 180, 70), (120, 180, 210)))
    shade = darker(fur, 0.22)
    b.oval(50, 94, 42, 6, (40, 36, 40), 0.35)
    b.curve([(70, 88), (88, 84), (88, 64), (80, 60)], shade, 7)
    b.blob([(36, 56), (64, 56), (76, 84), (70, 94), (30, 94), (24, 84)], fade(fur, shade))
    for side in (-1, 1):
        x = 50 + side * 16
        b.polygon([(x - side * 10, 28), (x + side * 7, 12), (x + side * 8, 40)], fur)
        b.polygon([(x - side * 4, 27), (x + side * 5, 17), (x + side * 5, 34)], (232, 160, 160))
    b.blob(
        [(50, 22), (70, 28), (76, 44), (64, 60), (36, 60), (24, 44), (30, 28)],
        fade(fur, fur, shade),
    )
    for x in (42, 50, 58):
        b.line([(x, 24), (x, 31)], shade, 2)
    for side in (-1, 1):
        b.oval(50 + side * 11, 41, 5, 5.4, eyes)
        b.oval(50 + side * 11, 41, 1.6, 5, (24, 22, 24))
        b.disc(50 + side * 11 + 1.4, 39, 1, (255, 255, 255))
        for y in (50, 53):
            b.line([(50 + side * 9, y), (50 + side * 28, 2 * y - 51)], (250, 250, 250), 0.5)
        b.oval(50 + side * 10, 92, 7, 4, lighter(fur, 0.2))
    b.oval(50, 53, 8, 5, lighter(fur, 0.4))
    b.polygon([(47, 48.5), (53, 48.5), (50, 52)], (214, 110, 116))
    b.curve([(45, 54), (47.5, 56), (50, 53)], (70, 50, 50), 0.8)
    b.curve([(50, 53), (52.5, 56), (55, 54)], (70, 50, 50), 0.8)


def _dog(b: Brush, rng: random.Random) -> None:
    _blurred(b, rng, rng.choice(((128, 170, 110), (176, 196, 206), (206, 180, 140))))
    coats: tuple[Color, ...] = ((190, 134, 80), (120, 84, 60), (232, 214, 184), (84, 80, 82))
    fur = rng.choice(coats)
    shade = darker(fur, 0.35)
    b.blob([(34, 66), (66, 66), (82, 104), (18, 104)], fade(fur, darker(fur, 0.2)))
    b.polygon([*arc(50, 70, 17, 6, 0, 180), *arc(50, 66, 17, 6, 180, 0)], rng.choice(BRIGHT))
    b.disc(50, 78, 3, (244, 206, 90))
    b.blob([(50, 16), (68, 22), (74, 44), (66, 66), (50, 74), (34, 66), (26, 44), (32, 22)], fur)
    for side in (-1, 1):
        x = 50 + side * 24
        b.blob(
            [(x - side * 8, 20), (x + side * 4, 24), (x + side * 7, 52), (x - side * 2, 54)], shade
        )
        b.disc(50 + side * 10, 38, 3.6, (34, 26, 24))
        b.disc(50 + side * 10 + 1.2, 36.8, 1.1, (255, 255, 255))
    b.oval(50, 57, 14, 12, lighter(fur, 0.4))
    b.oval(50, 50, 5.4, 4, (38, 32, 34))
    b.curve([(42, 60), (46, 63), (50, 60), (54, 63), (58, 60)], (70, 46, 44), 1.1)
    b.blob([(47, 62), (53, 62), (53, 69), (50, 71), (47, 69)], (228, 110, 124))


def _food(b: Brush, rng: random.Random) -> None:
    _table(b, rng)
    b.glow(52, 58, 52, 50, (40, 26, 20), 0.6)
    b.disc(50, 52, 37, (240, 240, 236))
    b.disc(50, 52, 28, fade((224, 224, 220), (250, 250, 248)))
    sauce = mixed(rng.choice(BRIGHT[:4]), (150, 90, 40), 0.3)
    b.blob([(50, 31), (68, 38), (72, 54), (62, 70), (44, 73), (30, 62), (30, 42)], sauce)
    for _ in range(26):
        x, y = 50 + rng.gauss(0, 8), 51 + rng.gauss(0, 7)
        if rng.random() < 0.6:
            ink = mixed((244, 212, 136), (206, 160, 86), rng.random())
            b.curve([(x - 9, y), (x - 3, y - 5), (x + 3, y + 4), (x + 9, y - 1)], ink, 2)
        else:
            b.disc(x, y, rng.uniform(2.5, 4.5), lighter(sauce, rng.random() * 0.3))
    for _ in range(7):
        x, y = 50 + rng.uniform(-12, 12), 52 + rng.uniform(-11, 11)
        with b.turned(rng.uniform(0, 360), x, y):
            b.blob([(x - 4, y), (x, y - 2), (x + 4, y), (x, y + 2)], (70, 140, 62))
    for x in (3, 96):
        b.line([(x, 26), (x, 82)], (214, 218, 222), 2.2)
    for x in (0.6, 3, 5.4):
        b.line([(x, 18), (x, 30)], (214, 218, 222), 1)
    b.blob([(94.6, 16), (98.6, 22), (98, 44), (95, 44)], (226, 230, 234))


def _cake(b: Brush, rng: random.Random) -> None:
    _blurred(b, rng, rng.choice(((90, 70, 110), (196, 150, 150), (110, 140, 160))))
    b.band(80, b.bottom, fade((226, 214, 200), (190, 174, 158)))
    b.oval(50, 85, 40, 6, (250, 250, 250))
    icing = lighter(rng.choice(BRIGHT), 0.45)
    sponge: Color = rng.choice(((226, 178, 116), (112, 70, 48)))
    b.box(18, 54, 82, 84, fade(sponge, darker(sponge, 0.15)), 3)
    b.box(18, 66, 82, 71, icing)
    b.box(18, 48, 82, 58, icing, 5)
    for x in range(20, 80, 9):
        b.box(x, 54, x + 6, 54 + rng.uniform(6, 13), icing, 3)
    b.oval(50, 49, 32, 5, lighter(icing, 0.4))
    for index, x in enumerate((32, 44, 56, 68)):
        b.box(x - 1.4, 32, x + 1.4, 49, BRIGHT[(index * 2 + 1) % len(BRIGHT)], 1)
        b.glow(x, 27, 9, 9, (255, 226, 130), 0.7)
        b.blob([(x, 22), (x + 2, 28), (x, 31), (x - 2, 28)], (255, 190, 70))


def _coffee(b: Brush, rng: random.Random) -> None:
    _table(b, rng)
    b.glow(50, 60, 52, 48, (30, 20, 16), 0.6)
    cup = rng.choice(((248, 246, 242), (214, 96, 80), (70, 112, 150), (236, 196, 96)))
    b.disc(48, 54, 38, lighter(cup, 0.5))
    b.disc(48, 54, 34, darker(lighter(cup, 0.5), 0.08))
    b.line([(70, 40), (84, 30)], cup, 6)
    b.disc(48, 54, 26, cup)
    b.disc(48, 54, 22.5, fade((120, 76, 46), (160, 108, 68)))
    art = (238, 214, 178)
    b.blob([(48, 68), (36, 54), (40, 44), (48, 50), (56, 44), (60, 54)], art)
    b.blob([(48, 62), (41, 54), (43, 49), (48, 53), (53, 49), (55, 54)], (150, 100, 62))
    b.line([(14, 92), (40, 98)], (206, 210, 214), 2)


def _flower(b: Brush, rng: random.Random) -> None:
    _blurred(b, rng, rng.choice(((92, 140, 84), (120, 150, 140), (150, 160, 90))))
    color = rng.choice((*BRIGHT, (250, 248, 244)))
    count = rng.choice((5, 8, 12))
    b.curve([(50, 50), (52, 80), (46, b.bottom + 4)], (70, 120, 62), 3)
    b.blob([(50, 86), (64, 74), (82, 74), (70, 86)], (84, 140, 72))
    for shade, reach in ((0.25, 36), (0.0, 32)):
        for petal in range(count):
            with b.turned(360 / count * (petal + (0.5 if shade else 0)), 50, 44):
                wide = reach * 2.0 / count + 3
                outline = [(50, 44), (50 + wide, 44 - reach * 0.62), (50, 44 - reach)]
                ink = darker(color, shade)
                b.blob([*outline, (50 - wide, 44 - reach * 0.62)], fade(lighter(ink, 0.25), ink))
    b.disc(50, 44, 9, fade((250, 206, 90), (206, 140, 50)))
    for x, y in oval(50, 44, 6, 6)[::6]:
        b.disc(x, y, 0.9, (150, 92, 40))


def _document(b: Brush, rng: random.Random) -> None:
    _table(b, rng)
    with b.turned(rng.uniform(-5, 5)):
        b.box(19, 7, 84, 97, (30, 24, 20), share=0.35)
        b.box(17, 5, 82, 95, fade((252, 251, 247), (238, 237, 232)))
        accent = mixed(rng.choice(BRIGHT), (60, 60, 80), 0.3)
        b.box(23, 11, 23 + rng.uniform(22, 40), 16, accent)
        y = 23.0
        while y < 78:
            length = rng.choice((52, 50, 53, 30))
            b.box(23, y, 23 + length, y + 1.8, (140, 142, 150))
            y += 4.4 if length > 30 else 8
        b.box(23, 82, 44, 88, lighter(accent, 0.6))
        b.curve([(56, 87), (60, 82), (63, 88), (67, 83), (70, 87), (76, 84)], (50, 60, 130), 0.9)


SUBJECTS: dict[str, Scene] = {
    "portrait": _portrait,
    "cat": _cat,
    "dog": _dog,
    "food": _food,
    "cake": _cake,
    "coffee": _coffee,
    "flower": _flower,
    "document": _document,
}
