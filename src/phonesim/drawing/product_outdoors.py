"""Drawings of products to wear, to play with and to use outdoors."""

from __future__ import annotations

from phonesim.drawing.brush import Brush
from phonesim.drawing.colors import fade
from phonesim.drawing.outlines import Point, arc, oval
from phonesim.drawing.product_tones import (
    INKY,
    PAPER,
    STEEL_DARK,
    STEEL_FLAT,
    WOOD,
    Drawing,
    Tones,
)


def _backpack(b: Brush, t: Tones) -> None:
    b.ring(50, 14, 9, 7, t.deep, 3.4)
    b.box(12, 44, 24, 80, t.deep, 5)
    b.box(76, 44, 88, 80, t.deep, 5)
    b.blob([(28, 22), (50, 13), (72, 22), (80, 56), (77, 88), (50, 91), (23, 88), (20, 56)], t.tube)
    b.line(arc(50, 46, 24, 26, 190, 350), t.deep, 1.6)
    b.box(28, 56, 72, 84, t.face, 6)
    b.line([(31, 63), (69, 63)], t.deep, 1.6)
    b.box(63, 62, 66, 70, t.accent, 1)
    b.box(42, 34, 58, 42, t.accent, 2)


def _shoes(b: Brush, t: Tones) -> None:
    upper = [(8, 44), (20, 48), (34, 40), (46, 52), (62, 61), (84, 66), (94, 76), (92, 84)]
    b.blob([(30, 46), (33, 34), (41, 36), (46, 50)], t.deep)
    b.blob([*upper, (8, 84), (6, 64)], t.face)
    b.polygon([(7, 62), (20, 60), (26, 82), (8, 82)], t.dark)
    b.blob([(36, 74), (58, 66), (68, 76), (52, 82), (38, 82)], t.accent)
    b.blob([(80, 68), (90, 71), (95, 80), (76, 82)], t.dark)
    for x, y in ((36, 50), (43, 56), (50, 61)):
        b.line([(x, y), (x + 6, y - 7)], PAPER, 2.6)
    b.box(4, 79, 97, 88, PAPER, 4)
    b.box(4, 85.5, 97, 89.5, t.deep, 2)


def _shirt(b: Brush, t: Tones) -> None:
    body = [(34, 14), (66, 14), (94, 32), (84, 50), (73, 44), (74, 89), (26, 89), (27, 44)]
    b.polygon([*body, (16, 50), (6, 32)], t.face)
    b.polygon([(27, 44), (31, 34), (32, 89), (26, 89)], t.dark)
    b.polygon([(73, 44), (69, 34), (68, 89), (74, 89)], t.dark)
    b.oval(50, 14, 14, 9, t.deep)
    b.oval(50, 12, 11, 7, t.dark)
    if t.kind == 0:
        b.disc(50, 48, 9, t.accent)
    elif t.kind == 1:
        b.box(32, 44, 68, 50, t.accent)
        b.box(32, 54, 68, 57, PAPER)
    elif t.kind == 2:
        b.polygon([(38, 58), (50, 36), (62, 58)], t.accent)


def _jacket(b: Brush, t: Tones) -> None:
    for side in (-1, 1):
        sleeve = [(50 + side * 18, 16), (50 + side * 32, 26), (50 + side * 42, 80)]
        b.polygon([*sleeve, (50 + side * 30, 83), (50 + side * 22, 46)], t.dark)
        b.polygon(
            [sleeve[2], (50 + side * 30, 83), (50 + side * 29, 77), (50 + side * 41, 74)], t.deep
        )
    b.polygon([(30, 16), (70, 16), (75, 40), (74, 90), (26, 90), (25, 40)], t.tube)
    b.polygon([(36, 8), (64, 8), (70, 18), (50, 34), (30, 18)], t.deep)
    b.polygon([(40, 10), (60, 10), (50, 28)], t.accent)
    b.line([(50, 32), (50, 89)], STEEL_DARK, 1.8)
    for y in (40, 52, 64, 76):
        b.line([(27, y), (73, y)], t.dark, 1)
    b.line([(50, 32), (50, 89)], PAPER, 1)
    b.polygon([(31, 66), (42, 62), (42, 76), (31, 78)], t.deep)
    b.polygon([(69, 66), (58, 62), (58, 76), (69, 78)], t.deep)


def _hat(b: Brush, t: Tones) -> None:
    b.polygon([*arc(44, 64, 34, 42, 180, 360), (78, 68), (10, 68)], t.tube)
    b.line(arc(44, 64, 13, 42, 180, 360), t.dark, 1.2)
    b.line([(44, 22), (44, 66)], t.dark, 1.2)
    b.oval(44, 22, 4.4, 2.6, t.deep)
    b.blob([(12, 66), (50, 60), (80, 62), (96, 74), (92, 80), (60, 73), (12, 72)], t.deep)
    b.blob([(12, 65), (50, 59), (80, 61), (95, 72), (90, 76), (60, 70), (12, 70)], t.face)
    b.disc(60, 46, 8, t.accent)
    b.polygon([(55, 50), (60, 41), (65, 50)], PAPER)


def _puzzle(b: Brush, t: Tones) -> None:
    inks = ((t.base, t.accent), (t.light, t.dark))
    for row in range(2):
        for column in range(2):
            x, y = 16 + column * 34, 18 + row * 34
            b.box(x, y + 2, x + 33, y + 35, t.deep, 1.5)
            b.box(x, y, x + 33, y + 33, inks[row][column], 1.5)
    b.disc(52, 34, 6.5, t.base)
    b.disc(32, 54, 6.5, t.base)
    b.disc(67, 47, 6.5, t.dark)
    b.disc(47, 69, 6.5, t.light)


def _ball(b: Brush, t: Tones) -> None:
    b.disc(50, 50, 39, t.deep)
    b.disc(49, 49, 38, PAPER)
    patches = [(49, 49)] + [oval(49, 49, 30, 30)[i] for i in (6, 16, 25, 35, 44)]
    for x, y in patches:
        b.line([(49, 49), (x, y)], t.deep, 1.4)
        size = 11 if (x, y) == (49, 49) else 8
        b.polygon(oval(x, y, size, size)[0:48:10], t.base)
    b.ring(49, 49, 38, 38, t.dark, 2)
    b.glow(36, 32, 20, 18, (255, 255, 255), 0.8)
    b.glow(68, 74, 30, 26, (70, 74, 90), 0.35)


def _tent(b: Brush, t: Tones) -> None:
    b.line([(46, 26), (4, 88)], STEEL_DARK, 1.2)
    b.line([(60, 20), (97, 86)], STEEL_DARK, 1.2)
    b.polygon([(46, 24), (66, 18), (94, 78), (72, 88)], t.dark)
    b.polygon([(46, 24), (72, 88), (10, 88)], t.face)
    b.polygon([(46, 36), (58, 88), (34, 88)], fade(t.deep, (40, 36, 40)))
    b.polygon([(46, 36), (34, 88), (26, 88)], t.light)
    b.polygon([(46, 24), (66, 18), (68, 24), (49, 31)], t.accent)
    b.box(2, 87, 98, 89, (120, 160, 96), 1)


def _bicycle(b: Brush, t: Tones) -> None:
    for x in (24, 76):
        b.ring(x, 66, 20, 20, INKY, 3)
        b.ring(x, 66, 17.5, 17.5, STEEL_DARK, 1)
        for end in oval(x, 66, 17, 17)[:24:4]:
            b.line([end, (2 * x - end[0], 132 - end[1])], (186, 192, 200), 0.7)
    b.line([(46, 66), (24, 66), (38, 38), (66, 36), (46, 66)], t.base, 3.6)
    b.line([(46, 66), (35, 28)], t.dark, 3.2)
    b.line([(76, 66), (63, 26)], t.dark, 3.4)
    b.line([(63, 26), (70, 22), (75, 25)], INKY, 3)
    b.line([(28, 27), (42, 27)], INKY, 4.4)
    b.disc(46, 66, 5.4, STEEL_FLAT)
    b.line([(41, 73), (51, 59)], INKY, 2)


def _guitar(b: Brush, t: Tones) -> None:
    with b.turned(38, 50, 50):
        b.box(46.5, 2, 53.5, 60, WOOD.deep, 1)
        b.polygon([(44, -4), (56, -4), (54.5, 8), (45.5, 8)], t.deep)
        for y in (-2, 2, 6):
            b.disc(43, y, 1.6, STEEL_FLAT)
            b.disc(57, y, 1.6, STEEL_FLAT)
        body = [(50, 44), (62, 44), (66, 54), (63, 64), (73, 78), (66, 96), (50, 99)]
        mirrored = [(100 - x, y) for x, y in reversed(body[1:-1])]
        b.blob([(x, y + 1.5) for x, y in (*body, *mirrored)], t.deep)
        b.blob([*body, *mirrored], t.tube)
        b.disc(50, 66, 7.6, WOOD.light)
        b.disc(50, 66, 6.2, (50, 34, 26))
        b.box(41, 84, 59, 87.5, WOOD.deep, 1)
        for x in (48, 50, 52):
            b.line([(x, 0), (x, 85)], (232, 226, 210), 0.5)


def _umbrella(b: Brush, t: Tones) -> None:
    b.line([(50, 40), (50, 82)], STEEL_DARK, 2.6)
    b.line([*arc(43, 82, 7, 7, 0, 180)], WOOD.base, 4)
    b.line([(50, 74), (50, 82)], WOOD.base, 4)
    b.line([(50, 8), (50, 16)], STEEL_DARK, 2.6)
    edges = (6, 22, 40, 60, 78, 94)
    inks = (t.dark, t.base, t.accent if t.kind % 2 else t.light, t.base, t.dark)
    for left, right, ink in zip(edges, edges[1:], inks, strict=False):
        scallop = arc((left + right) / 2, 53, (right - left) / 2, 5, 180, 360)
        b.polygon([*_rib(left), *scallop, *reversed(_rib(right))], ink)


def _rib(x: float) -> list[Point]:
    """Return a rib of the umbrella, from its tip down to its edge."""
    return arc(50, 53, abs(x - 50), 40, 270, 180 if x < 50 else 360)


OUTDOORS: dict[str, Drawing] = {
    "backpack": _backpack,
    "shoes": _shoes,
    "shirt": _shirt,
    "jacket": _jacket,
    "hat": _hat,
    "puzzle": _puzzle,
    "ball": _ball,
    "tent": _tent,
    "bicycle": _bicycle,
    "guitar": _guitar,
    "umbrella": _umbrella,
}
