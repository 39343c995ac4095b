"""Outdoor scenes for photographs: land, water, streets and the things in them."""

from __future__ import annotations

import random

from phonesim.drawing import landscapes
from phonesim.drawing.brush import Brush
from phonesim.drawing.colors import Color, darker, fade, lighter, mixed
from phonesim.drawing.outlines import arc
from phonesim.drawing.photo_tones import BRIGHT, SKIES, Scene


def _sky(b: Brush, rng: random.Random, foot: float) -> None:
    b.band(b.top, foot + 1, rng.choice(SKIES))
    for _ in range(rng.randrange(2, 5)):
        x, y = rng.uniform(b.left, b.right), rng.uniform(b.top + 8, foot - 18)
        landscapes.cloud(b, x, y, rng.uniform(10, 20), (255, 255, 255))


def _beach(b: Brush, rng: random.Random) -> None:
    _sky(b, rng, 46)
    b.band(46, 72, fade((38, 120, 176), (86, 186, 200)))
    landscapes.ripples(b, rng, 50, (220, 244, 248), 26, rng.uniform(20, 80))
    shore = landscapes.rolling(b, rng, 70, 3)
    b.ridge([(x, y - 1.6) for x, y in shore], (246, 252, 252))
    b.ridge(shore, fade((234, 206, 156), (208, 172, 120)))
    x, color = rng.uniform(24, 76), rng.choice(BRIGHT)
    b.oval(x + 6, 88, 16, 2.4, (150, 116, 80), 0.6)
    b.line([(x, 88), (x + 3, 58)], (240, 236, 226), 1.4)
    for index in range(4):
        ink = color if index % 2 else (250, 248, 240)
        b.polygon([(x + 3, 54), *arc(x + 3, 68, 20, 14, 180 + 45 * index, 225 + 45 * index)], ink)
    b.box(x - 22, 86, x - 8, 91, mixed(color, (255, 255, 255), 0.3), 1)


def _boat(b: Brush, rng: random.Random) -> None:
    _sky(b, rng, 54)
    b.ridge(landscapes.rolling(b, rng, 51, 2.5), (120, 150, 172))
    b.band(54, b.bottom, fade((70, 140, 184), (24, 76, 128)))
    landscapes.ripples(b, rng, 56, (196, 224, 238), 50, 50)
    x, color = rng.uniform(38, 62), rng.choice(BRIGHT)
    b.line([(x, 70), (x, 20)], (92, 70, 56), 1.2)
    b.polygon([(x - 1.5, 22), (x - 1.5, 66), (x - 20, 66)], (250, 248, 240))
    b.polygon([(x + 1.5, 26), (x + 1.5, 66), (x + 22, 64)], color)
    b.polygon(
        [(x - 26, 69), (x + 26, 69), (x + 18, 80), (x - 18, 80)], fade((250, 250, 250), color)
    )
    b.oval(x, 82, 26, 1.6, (22, 66, 110), 0.6)


def _mountain(b: Brush, rng: random.Random) -> None:
    _sky(b, rng, 70)
    b.ridge(landscapes.jagged(b, rng, 66, 26, 10), fade((150, 168, 192), (180, 196, 206)))
    peak, top = rng.uniform(34, 66), rng.uniform(16, 26)
    rock: Color = rng.choice(((96, 104, 124), (112, 100, 104), (86, 102, 116)))
    b.polygon([(peak - 58, 80), (peak, top), (peak + 54, 80)], rock)
    b.polygon([(peak, top), (peak + 54, 80), (peak + 8, 80), (peak - 4, 46)], darker(rock, 0.25))
    snow = [(peak, top), (peak + 13, top + 15), (peak + 7, top + 14), (peak + 3, top + 21)]
    snow += [(peak - 4, top + 14), (peak - 9, top + 19), (peak - 14, top + 15)]
    b.polygon(snow, (246, 250, 252))
    meadow: Color = rng.choice(((84, 136, 84), (120, 142, 78), (66, 118, 92)))
    b.ridge(landscapes.rolling(b, rng, 74, 3), fade(meadow, darker(meadow, 0.35)))
    landscapes.pines(b, rng, 84, (9, 17), darker(meadow, 0.6), 9)
    b.ridge(landscapes.rolling(b, rng, 92, 2), darker(meadow, 0.45))


def _snow(b: Brush, rng: random.Random) -> None:
    b.band(b.top, b.bottom, fade((120, 144, 184), (214, 222, 234)))
    for level, ink in ((58, (196, 208, 226)), (68, (220, 230, 240)), (80, (244, 248, 252))):
        b.ridge(landscapes.rolling(b, rng, level, 4), fade(ink, darker(ink, 0.1)))
        for _ in range(5):
            x, size = rng.uniform(b.left, b.right), rng.uniform(14, 26)
            landscapes.pine(b, x, level + 6, size, (54, 84, 88))
            for lift, part in ((0.5, 0.5), (0.22, 0.36)):  # snow lies on the upper branches
                foot = level + 6 - size * lift
                landscapes.pine(b, x - size * 0.01, foot, size * part, (240, 246, 250))
    for _ in range(60):
        b.disc(
            rng.uniform(b.left, b.right), rng.uniform(b.top, b.bottom), 0.5, (255, 255, 255), 0.9
        )


def _forest(b: Brush, rng: random.Random) -> None:
    b.band(b.top, b.bottom, fade((196, 220, 180), (140, 180, 120)))
    b.glow(rng.uniform(20, 80), 20, 60, 60, (255, 250, 214), 0.8)
    for depth in range(4):
        bark = mixed((150, 170, 140), (58, 44, 36), depth / 3)
        for _ in range(9 - depth * 2):
            x, wide = rng.uniform(b.left, b.right), 1.6 + depth * 1.7
            b.box(x - wide / 2, b.top, x + wide / 2, 70 + depth * 7, bark)
        leaves = mixed((150, 190, 130), (34, 84, 48), depth / 3)
        for _ in range(14):
            x, y = rng.uniform(b.left, b.right), b.top + rng.uniform(0, 26)
            b.oval(x, y, 12, 8, leaves, 0.6)
        b.ridge(landscapes.rolling(b, rng, 66 + depth * 7, 2), mixed(leaves, (96, 110, 50), 0.3))
    b.polygon([(44, 68), (50, 68), (74, 112), (20, 112)], (190, 160, 112), 0.8)


def _meadow(b: Brush, rng: random.Random) -> None:
    _sky(b, rng, 60)
    for level, ink in ((56, (124, 168, 110)), (66, (98, 156, 84)), (78, (74, 134, 68))):
        b.ridge(landscapes.rolling(b, rng, level, 3), fade(ink, darker(ink, 0.18)))
    for _ in range(3):
        size = rng.uniform(22, 36)
        landscapes.tree(b, rng.uniform(b.left, b.right), 66 + size * 0.12, size, (82, 150, 74))
    for _ in range(70):
        x, y = rng.uniform(b.left, b.right), rng.uniform(80, b.bottom)
        b.disc(x, y, 0.5 + (y - 76) * 0.03, rng.choice((*BRIGHT, (255, 255, 255))))


def _lake(b: Brush, rng: random.Random) -> None:
    _sky(b, rng, 52)
    line = landscapes.jagged(b, rng, 54, 26, 9)
    b.ridge(line, fade((110, 130, 156), (140, 158, 172)))
    b.band(54, b.bottom, fade((132, 168, 196), (44, 92, 132)))
    b.polygon([*((x, 108 - y) for x, y in line), (130, 54), (-30, 54)], (88, 112, 142), 0.5)
    landscapes.pines(b, rng, 55, (6, 13), (46, 84, 66), 5)
    landscapes.ripples(b, rng, 60, (214, 230, 240), 40, rng.uniform(20, 80))
    b.polygon([(40, 84), (56, 84), (66, 112), (30, 112)], fade((170, 128, 86), (122, 86, 58)))
    for y in (88, 93, 99):
        b.line([(40 - (y - 84) * 0.36, y), (56 + (y - 84) * 0.36, y)], (96, 68, 46), 0.7)


def _city(b: Brush, rng: random.Random) -> None:
    _sky(b, rng, 84)
    for depth, ink in enumerate(((176, 190, 206), (126, 142, 166), (78, 90, 114))):
        x = b.left - 6
        while x < b.right:
            wide, top = rng.uniform(9, 17), rng.uniform(22 + depth * 14, 52 + depth * 12)
            wall = mixed(ink, rng.choice(BRIGHT), 0.12 if depth else 0.0)
            b.box(x, top, x + wide, b.bottom, fade(lighter(wall, 0.1), wall))
            if depth:
                _windows(b, rng, x, top, wide, wall)
            x += wide + rng.uniform(0, 2)
    b.band(94, b.bottom, fade((86, 90, 98), (58, 60, 68)))
    for x in range(int(b.left), int(b.right) + 12, 12):
        b.box(x, 99, x + 6, 99.8, (236, 226, 190))


def _windows(
    b: Brush, rng: random.Random, left: float, top: float, wide: float, wall: Color
) -> None:
    for row in range(int((92 - top) / 5)):
        for column in range(int((wide - 2) / 3)):
            lit = rng.random() < 0.3
            x, y = left + 1.6 + column * 3, top + 3 + row * 5
            b.box(x, y, x + 1.7, y + 2.8, (255, 226, 150) if lit else darker(wall, 0.3))


def _night(b: Brush, rng: random.Random) -> None:
    b.band(b.top, b.bottom, fade((10, 12, 40), (56, 44, 100), (150, 84, 110)))
    landscapes.stars(b, rng, 60, 60)
    b.disc(rng.uniform(18, 82), 20, 7, (244, 240, 220))
    x = b.left - 4
    while x < b.right:
        wide, top = rng.uniform(8, 16), rng.uniform(46, 72)
        b.box(x, top, x + wide, b.bottom, fade((30, 28, 58), (18, 16, 36)))
        _windows(b, rng, x, top, wide, (40, 36, 66))
        x += wide
    for _ in range(16):
        at, y, color = rng.uniform(b.left, b.right), rng.uniform(84, b.bottom), rng.choice(BRIGHT)
        b.disc(at, y, rng.uniform(2, 5), lighter(color, 0.3), 0.5)


def _sunset(b: Brush, rng: random.Random) -> None:
    top: Color = rng.choice(((60, 50, 120), (44, 70, 130), (110, 56, 110)))
    b.band(b.top, 62, fade(top, (232, 110, 96), (255, 204, 120)))
    x = rng.uniform(28, 72)
    b.glow(x, 54, 50, 40, (255, 226, 150), 0.8)
    b.disc(x, 54, 9, (255, 240, 196))
    for _ in range(5):
        at = rng.uniform(b.left, b.right), rng.uniform(b.top + 6, 40)
        b.glow(*at, rng.uniform(16, 34), 2.6, (255, 180, 150), 0.7)
    b.band(60, b.bottom, fade((236, 140, 104), (92, 60, 110), (36, 34, 74)))
    landscapes.ripples(b, rng, 62, (255, 226, 160), 60, x)
    b.ridge(landscapes.rolling(b, rng, 97, 3), (24, 20, 40))
    for side in (b.left + 8, b.right - 14):
        b.curve([(side, 104), (side + 2, 80), (side + 7, 60)], (24, 20, 40), 1.8)
        for turn in (150, 190, 230, 280, 330, 20):
            tip = arc(side + 7, 60, 13, 9, turn, turn, 6)[0]
            b.curve([(side + 7, 60), ((side + 7 + tip[0]) / 2, tip[1] - 3), tip], (24, 20, 40), 1.6)


def _house(b: Brush, rng: random.Random) -> None:
    _sky(b, rng, 76)
    b.ridge(landscapes.rolling(b, rng, 70, 3), (130, 166, 116))
    landscapes.tree(b, 16, 82, 42, (70, 136, 72))
    landscapes.tree(b, 90, 82, 34, (92, 150, 70))
    wall = mixed(rng.choice(BRIGHT), (250, 244, 232), 0.68)
    roof = mixed(rng.choice(BRIGHT), (90, 50, 50), 0.55)
    b.box(64, 28, 70, 44, darker(roof, 0.2))
    b.box(28, 48, 76, 84, fade(wall, darker(wall, 0.1)))
    b.polygon([(22, 50), (36, 28), (68, 28), (82, 50)], fade(lighter(roof, 0.12), roof))
    b.box(46, 62, 57, 84, darker(roof, 0.3), 0.8)
    for x in (32, 62):
        b.box(x, 57, x + 10, 68, (250, 250, 250))
        b.box(x + 1, 58, x + 9, 67, fade((150, 196, 222), (220, 236, 242)))
    b.band(83, b.bottom, fade((110, 160, 84), (70, 120, 62)))
    b.polygon([(46, 84), (57, 84), (70, 112), (32, 112)], (206, 190, 160))


def _car(b: Brush, rng: random.Random) -> None:
    _sky(b, rng, 60)
    b.ridge(landscapes.rolling(b, rng, 56, 4), fade((132, 160, 140), (110, 140, 110)))
    b.band(66, b.bottom, fade((120, 122, 128), (76, 78, 86)))
    b.band(92, 93.4, (240, 232, 200))
    body = rng.choice(BRIGHT)
    b.oval(50, 85, 44, 4, (40, 42, 50), 0.7)
    b.blob([(26, 64), (36, 48), (62, 47), (76, 62)], darker(body, 0.15))
    b.polygon([(31, 62), (38.5, 51), (48, 51), (48, 62)], (186, 214, 228))
    b.polygon([(51, 62), (51, 51), (60, 51), (70, 62)], (206, 228, 238))
    outline = [(8, 70), (14, 63), (30, 61), (74, 61), (90, 67), (94, 76), (88, 82), (12, 82)]
    b.blob(outline, fade(lighter(body, 0.3), body, darker(body, 0.3)))
    b.disc(90, 70, 2, (255, 244, 200))
    b.box(8, 69, 11, 73, (200, 40, 40), 1)
    for x in (27, 74):
        b.disc(x, 82, 9, (36, 38, 44))
        b.disc(x, 82, 5, (190, 196, 204))


OUTDOORS: dict[str, Scene] = {
    "beach": _beach,
    "boat": _boat,
    "mountain": _mountain,
    "snow": _snow,
    "forest": _forest,
    "meadow": _meadow,
    "lake": _lake,
    "city": _city,
    "night": _night,
    "sunset": _sunset,
    "house": _house,
    "car": _car,
}
