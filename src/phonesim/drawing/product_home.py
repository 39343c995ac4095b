"""Drawings of products for the home: furniture, kitchen, reading, rest."""

from __future__ import annotations

from phonesim.drawing.brush import Brush
from phonesim.drawing.colors import fade, lighter
from phonesim.drawing.outlines import arc, oval
from phonesim.drawing.product_tones import (
    GLASS,
    INKY,
    LEAF,
    PAPER,
    RUBBER,
    STEEL,
    STEEL_DARK,
    STEEL_FLAT,
    WOOD,
    Drawing,
    Tones,
)


def _lamp(b: Brush, t: Tones) -> None:
    b.glow(50, 46, 46, 30, (255, 222, 140), 0.7)
    b.box(47.5, 44, 52.5, 82, STEEL)
    b.oval(50, 84, 20, 5, STEEL_DARK)
    b.oval(50, 82.5, 20, 5, STEEL_FLAT)
    b.polygon([(36, 14), (64, 14), (78, 50), (22, 50)], t.tube)
    b.oval(50, 50, 28, 3.2, (255, 240, 196))
    b.line([(60, 52), (60, 62)], STEEL_DARK, 1)
    b.disc(60, 63, 1.8, t.accent)


def _chair(b: Brush, t: Tones) -> None:
    for x, foot in ((32, 28), (70, 74)):
        b.line([(x, 58), (foot, 80)], WOOD.deep, 4)
    b.blob([(30, 12), (50, 8), (70, 12), (73, 34), (70, 56), (30, 56), (27, 34)], t.deep)
    b.blob([(32, 14), (50, 11), (68, 14), (70, 34), (68, 54), (32, 54), (30, 34)], t.tube)
    for x, foot in ((26, 20), (76, 82)):
        b.line([(x, 64), (foot, 90)], WOOD.base, 4.6)
    b.blob([(24, 58), (50, 54), (76, 58), (82, 66), (70, 71), (30, 71), (18, 66)], t.deep)
    b.blob([(25, 56), (50, 53), (75, 56), (81, 63), (70, 67), (30, 67), (19, 63)], t.face)


def _desk(b: Brush, t: Tones) -> None:
    b.box(12, 42, 17, 90, t.dark)
    b.box(83, 42, 88, 90, t.dark)
    b.box(58, 44, 84, 84, t.face, 1)
    for y in (47, 59.5, 72):
        b.box(60, y, 82, y + 10.5, t.light, 1)
        b.box(67, y + 4, 75, y + 6, STEEL_DARK, 1)
    b.box(6, 36, 94, 44, WOOD.face, 1.5)
    b.box(6, 42, 94, 44.5, WOOD.deep, 1)
    b.line([(26, 36), (26, 24), (34, 16)], INKY, 2)
    b.polygon([(30, 12), (40, 16), (40, 24), (28, 20)], t.accent)


def _kettle(b: Brush, t: Tones) -> None:
    b.line(arc(48, 42, 26, 28, 190, 350), t.deep, 6)
    b.line(arc(48, 42, 26, 28, 200, 340), INKY, 5)
    b.polygon([(66, 56), (84, 34), (92, 36), (78, 74)], t.dark)
    b.blob([(28, 42), (68, 42), (78, 72), (74, 88), (22, 88), (18, 72)], t.tube)
    b.oval(48, 42, 21, 5, t.light)
    b.oval(48, 41, 12, 3, t.dark)
    b.disc(48, 37, 4, INKY)
    b.box(24, 84, 72, 89, t.deep, 2)


def _pan(b: Brush, t: Tones) -> None:
    with b.turned(-32):
        b.box(66, 45.5, 104, 54.5, RUBBER, 4)
        b.box(64, 47, 72, 53, STEEL)
        b.disc(98, 50, 1.6, STEEL_FLAT)
    b.disc(40, 56, 36, t.deep)
    b.disc(40, 55, 35, t.face)
    b.disc(40, 56, 29, fade((46, 48, 56), (84, 88, 98)))
    b.oval(36, 56, 15, 13, (252, 252, 248))
    b.disc(35, 55, 6.5, (250, 190, 50))
    b.disc(33, 53, 1.8, (255, 232, 160))


def _knife(b: Brush, t: Tones) -> None:
    with b.turned(-38):
        b.blob([(2, 47), (20, 40), (62, 41), (62, 46), (62, 58), (26, 57)], STEEL_FLAT)
        b.polygon([(4, 48), (62, 53), (62, 58), (24, 57)], (244, 247, 250), 0.8)
        b.box(61, 39, 66, 59, STEEL, 1)
        b.box(65, 41, 102, 56, t.face, 5)
        for x in (72, 82, 92):
            b.disc(x, 48.5, 1.8, STEEL_FLAT)


def _mug(b: Brush, t: Tones) -> None:
    b.ring(72, 54, 13, 15, t.deep, 7)
    b.ring(71.5, 53, 13, 15, t.dark, 5.4)
    b.polygon([(20, 26), (72, 26), (70, 84), (64, 89), (28, 89), (22, 84)], t.tube)
    b.oval(46, 26, 26, 6, t.light)
    b.oval(46, 27, 23, 4.6, (96, 60, 38))
    if t.kind % 2:
        b.blob([(46, 70), (34, 56), (38, 46), (46, 52), (54, 46), (58, 56)], lighter(t.accent, 0.1))
    else:
        b.box(21, 52, 71, 60, t.accent, share=0.85)


def _bottle(b: Brush, t: Tones) -> None:
    b.box(41, 6, 59, 22, RUBBER, 3)
    b.box(43, 20, 57, 28, STEEL)
    shape = [(40, 28), (60, 28), (68, 40), (68, 86), (64, 91), (36, 91), (32, 86), (32, 40)]
    b.polygon(shape, t.tube)
    b.box(32, 54, 68, 72, t.accent, share=0.9)
    b.box(38, 59, 56, 61.5, PAPER, 1)
    b.box(38, 65, 50, 67, PAPER, 1)


def _blender(b: Brush, t: Tones) -> None:
    b.ring(70, 34, 9, 13, STEEL_DARK, 3.4)
    b.box(34, 6, 66, 13, t.dark, 2)
    b.polygon([(28, 13), (72, 13), (65, 60), (35, 60)], GLASS)
    b.polygon([(30, 28), (70, 28), (65, 60), (35, 60)], fade((255, 160, 130), (226, 84, 96)))
    b.polygon([(33, 15), (38, 15), (42, 58), (38, 58)], (255, 255, 255), 0.5)
    b.polygon([(35, 59), (65, 59), (74, 86), (70, 91), (30, 91), (26, 86)], t.tube)
    b.disc(50, 76, 7.5, STEEL_FLAT)
    b.line([(50, 76), (54, 71)], INKY, 1.6)


def _book(b: Brush, t: Tones) -> None:
    b.polygon([(26, 14), (76, 8), (84, 14), (84, 84), (34, 92), (26, 86)], t.deep)
    b.polygon([(32, 88), (82, 80), (82, 84), (34, 91)], PAPER)
    b.polygon([(34, 20), (84, 13), (84, 80), (34, 88)], t.face)
    b.polygon([(26, 14), (34, 20), (34, 91), (26, 86)], t.dark)
    b.polygon([(42, 30), (76, 25), (76, 31), (42, 36)], PAPER)
    b.polygon([(42, 40), (64, 37), (64, 40), (42, 43)], PAPER)
    if t.kind % 2:
        b.disc(59, 60, 11, t.accent)
        b.disc(63, 57, 9, t.base)
    else:
        b.polygon([(44, 76), (56, 52), (64, 64), (68, 58), (76, 71)], t.accent)


def _clock(b: Brush, t: Tones) -> None:
    b.disc(50, 50, 41, t.deep)
    b.disc(50, 49, 40, t.face)
    b.disc(50, 49, 34, fade((236, 238, 240), PAPER))
    for start, end in zip(oval(50, 49, 31, 31)[::4], oval(50, 49, 27, 27)[::4], strict=True):
        b.line([start, end], INKY, 1.8)
    b.line([(50, 49), (36, 37)], INKY, 3.4)
    b.line([(50, 49), (66, 33)], INKY, 2.4)
    b.line([(46, 57), (58, 33)], t.accent, 1.2)
    b.disc(50, 49, 2.8, t.accent)


def _pillow(b: Brush, t: Tones) -> None:
    shape = [(14, 26), (50, 30), (86, 26), (90, 30), (86, 56), (90, 82), (86, 86), (50, 82)]
    corners = [(14, 86), (10, 82), (14, 56), (10, 30)]
    b.blob([*shape, *corners], t.deep)
    b.blob([(x, y - 2) for x, y in (*shape, *corners)], t.face)
    for x in (30, 50, 70):
        b.curve([(x, 32), (x - 2, 54), (x, 78)], t.accent if t.kind % 2 else t.light, 3)
    b.curve([(16, 28), (24, 38)], t.dark, 1.4)
    b.curve([(84, 28), (76, 38)], t.dark, 1.4)


def _blanket(b: Brush, t: Tones) -> None:
    for index, y in enumerate((70, 54, 38)):
        shift = index % 2 * 3
        b.box(12 + shift, y, 86 + shift, y + 19, t.deep, 9)
        b.box(12 + shift, y - 1, 86 + shift, y + 17, t.face, 8)
        b.line([(22 + shift, y + 8), (84 + shift, y + 8)], t.dark, 1)
        b.box(24 + shift, y - 1, 31 + shift, y + 17, t.accent, share=0.8)
        b.box(34 + shift, y - 1, 37 + shift, y + 17, PAPER, share=0.7)
    b.polygon([(62, 38), (86, 38), (86, 62), (70, 66), (62, 60)], t.tube)
    for x in (64, 69, 74, 79, 84):
        b.line([(x, 62), (x, 70)], t.light, 1.6)


def _plant(b: Brush, t: Tones) -> None:
    leaves = ((-52, 40), (52, 40), (-26, 46), (28, 47), (0, 50))
    for index, (angle, length) in enumerate(leaves):
        with b.turned(angle, 50, 66):
            tip, middle = 66 - length, 66 - length * 0.5
            b.blob([(50, 66), (42, middle), (50, tip), (58, middle)], LEAF.face)
            b.line([(50, 66), (50, tip + 6)], LEAF.deep if index % 2 else LEAF.light, 1)
    b.polygon([(30, 62), (70, 62), (64, 90), (36, 90)], t.tube)
    b.box(27, 58, 73, 66, t.tube, 2)


HOME: dict[str, Drawing] = {
    "lamp": _lamp,
    "chair": _chair,
    "desk": _desk,
    "kettle": _kettle,
    "pan": _pan,
    "knife": _knife,
    "mug": _mug,
    "bottle": _bottle,
    "blender": _blender,
    "book": _book,
    "clock": _clock,
    "pillow": _pillow,
    "blanket": _blanket,
    "plant": _plant,
}
