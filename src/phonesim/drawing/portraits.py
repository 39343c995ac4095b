"""Portraits for contacts and accounts: simply drawn people, one for each name."""

from __future__ import annotations

import random

from distrl.records import Pixels
from phonesim.drawing.brush import Brush
from phonesim.drawing.colors import Color, darker, fade, lighter, mixed
from phonesim.drawing.outlines import arc
from phonesim.drawing.photo_tones import BRIGHT, CLOTHES, HAIR, SKIN

STYLES = ("short", "long", "bun", "curly", "bob", "side", "bald", "cap")


def draw_portrait(name: str, width: int, height: int) -> Pixels:
    rng = random.Random(f"portrait/{name}")
    color = mixed(rng.choice(BRIGHT), (236, 238, 244), 0.45)
    brush = Brush(width, height, fade(lighter(color, 0.3), darker(color, 0.08)))
    draw_person(brush, rng)
    return brush.pixels()


def draw_person(b: Brush, rng: random.Random) -> None:
    """Draw head and shoulders in the middle of the picture."""
    skin, hair, cloth = rng.choice(SKIN), rng.choice(HAIR), rng.choice(CLOTHES)
    style = rng.choice(STYLES)
    _hair_behind(b, style, hair)
    _body(b, skin, cloth, rng.randrange(3))
    b.disc(29.5, 46, 4, darker(skin, 0.1))
    b.disc(70.5, 46, 4, darker(skin, 0.1))
    face = [(50, 20), (66, 26), (70, 44), (65, 60), (50, 69), (35, 60), (30, 44), (34, 26)]
    b.blob(face, fade(lighter(skin, 0.08), skin))
    _features(b, rng, skin, hair, style)
    _hair_in_front(b, style, hair, cloth)


def _body(b: Brush, skin: Color, cloth: Color, collar: int) -> None:
    foot = b.bottom + 2
    shoulders = [(38, 77), (62, 77), (82, 84), (90, 100), (92, foot + 4), (8, foot + 4)]
    b.blob([*shoulders, (10, 100), (18, 84)], fade(lighter(cloth, 0.1), darker(cloth, 0.15)))
    b.box(42, 60, 58, 80, darker(skin, 0.14), 4)
    b.blob([(41, 76), (59, 76), (56, 85), (44, 85)], darker(skin, 0.14))
    if collar == 1:
        for side in (-1, 1):
            b.polygon([(50 + side * 8, 75), (50, 88), (50 + side * 14, 86)], lighter(cloth, 0.4))
    elif collar == 2:
        b.line([*arc(50, 77, 11, 9, 0, 180)], darker(cloth, 0.3), 2.4)


def _features(b: Brush, rng: random.Random, skin: Color, hair: Color, style: str) -> None:
    brow = darker(hair, 0.2)
    for side in (-1, 1):
        x = 50 + side * 9
        b.oval(x, 45, 2.5, 2.9, (40, 34, 36))
        b.disc(x + 0.9, 44, 0.8, (255, 255, 255))
        b.curve([(x - 4, 39.5), (x, 38), (x + 4, 39.5)], brow, 1.3)
        b.glow(x + side * 4, 53, 6, 4.5, (226, 96, 90), 0.35)
    b.curve([(50, 47), (48.6, 52), (51, 52.6)], darker(skin, 0.22), 1.3)
    if rng.random() < 0.4 and style in ("short", "side", "bald", "cap"):
        beard = [(34, 50), (40, 58), (60, 58), (66, 50), (63, 63), (50, 71), (37, 63)]
        b.blob(beard, hair)
    mouth = arc(50, 55.5, 6.5, 5, 20, 160)
    if rng.random() < 0.4:
        b.polygon(mouth, (250, 246, 242))
    b.line(mouth, (170, 74, 72), 1.3)
    if rng.random() < 0.3:
        for x in (41, 59):
            b.ring(x, 45, 6.4, 5.8, (52, 52, 62), 1.3)
        b.line([(47.6, 44.4), (52.4, 44.4)], (52, 52, 62), 1.3)


def _hair_behind(b: Brush, style: str, hair: Color) -> None:
    if style == "long":
        outline = [(50, 10), (74, 20), (79, 50), (80, 82), (66, 88), (34, 88), (20, 82), (21, 50)]
        b.blob([*outline, (26, 20)], darker(hair, 0.2))
    elif style == "bob":
        outline = [(50, 11), (73, 20), (79, 44), (75, 64), (60, 66), (40, 66), (25, 64), (21, 44)]
        b.blob([*outline, (27, 20)], darker(hair, 0.2))
    elif style == "curly":
        for x, y in arc(50, 40, 24, 25, 160, 380, 11):
            b.disc(x, y, 8.5, darker(hair, 0.15))
    elif style == "bun":
        b.disc(50, 11, 9, hair)


def _hair_in_front(b: Brush, style: str, hair: Color, cloth: Color) -> None:
    shine = lighter(hair, 0.16)
    if style == "bald":
        b.glow(43, 26, 8, 5, (255, 255, 255), 0.5)
    elif style == "cap":
        b.polygon(
            [*arc(50, 32, 22, 20, 180, 360), (72, 34), (28, 34)], fade(lighter(cloth, 0.2), cloth)
        )
        b.box(26, 31, 78, 36, darker(cloth, 0.25), 2.5)
    elif style == "curly":
        for x, y in arc(50, 31, 17, 12, 180, 360, 6):
            b.disc(x, y - 2, 7, hair)
    elif style == "side":
        b.blob(
            [(28, 42), (27, 24), (44, 11), (66, 14), (74, 32), (71, 44), (66, 30), (44, 30)], hair
        )
        b.curve([(40, 18), (54, 15), (64, 20)], shine, 1.6)
    elif style in ("long", "bob"):
        b.blob([(29, 46), (26, 28), (40, 12), (52, 14), (40, 30)], hair)
        b.blob([(71, 46), (74, 28), (62, 12), (48, 13), (58, 26)], hair)
        b.curve([(34, 22), (42, 16), (47, 17)], shine, 1.6)
    else:
        b.blob(
            [(28, 40), (27, 26), (38, 13), (62, 13), (73, 26), (72, 40), (66, 28), (34, 28)], hair
        )
        b.curve([(38, 19), (48, 16), (58, 18)], shine, 1.6)
