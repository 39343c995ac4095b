"""Drawings of electronic products."""

from __future__ import annotations

from phonesim.drawing.brush import Brush
from phonesim.drawing.colors import Color, fade, lighter
from phonesim.drawing.outlines import arc
from phonesim.drawing.product_tones import (
    GLASS,
    INKY,
    PAPER,
    RUBBER,
    SCREEN,
    STEEL,
    STEEL_DARK,
    STEEL_FLAT,
    STEEL_LIGHT,
    Drawing,
    Tones,
)

HILLS: Color = (44, 50, 110)  # drawn on the screens


def _headphones(b: Brush, t: Tones) -> None:
    b.line(arc(50, 52, 31, 36, 180, 360), t.deep, 9)
    b.line(arc(50, 52, 31, 36, 180, 360), t.base, 7)
    b.line(arc(49, 52, 31, 37, 205, 300), t.light, 2)
    for side in (-1, 1):
        x = 50 + side * 31
        b.box(x - 3, 44, x + 3, 60, STEEL, 2)
        b.box(x - side * 12 - 4, 52, x - side * 12 + 4, 84, RUBBER, 4)
        b.box(x - 10, 49, x + 10, 87, t.tube, 9)
        b.box(x - 5, 58, x + 5, 78, t.dark, 5)


def _earbuds(b: Brush, t: Tones) -> None:
    for x in (33, 67):
        side = 1 if x < 50 else -1
        b.box(x - 4 - side * 3, 24, x + 4 - side * 3, 54, t.tube, 4)
        b.disc(x, 24, 11, t.face)
        b.oval(x + side * 9, 25, 5, 7, RUBBER)
    b.box(22, 52, 78, 90, t.face, 15)
    b.line([(23, 64), (77, 64)], t.deep, 1.2)
    b.disc(50, 72, 1.8, (120, 220, 140))
    b.box(30, 55, 56, 57, lighter(t.light, 0.5), 1)


def _laptop(b: Brush, t: Tones) -> None:
    b.box(18, 22, 82, 68, t.dark, 3)
    b.box(20.5, 25, 79.5, 65, SCREEN, 1)
    b.polygon([(20.5, 25), (52, 25), (34, 65), (20.5, 65)], (255, 255, 255), 0.12)
    b.polygon([(18, 68), (82, 68), (93, 82), (7, 82)], t.face)
    for row, y in enumerate((70.5, 73, 75.5)):
        b.box(22 - row * 2.4, y, 78 + row * 2.4, y + 1.6, t.deep)
    b.polygon([(42, 78.2), (58, 78.2), (59, 81), (41, 81)], t.dark)
    b.box(7, 82, 93, 86, t.dark, 2)


def _phone(b: Brush, t: Tones) -> None:
    with b.turned(-8):
        b.box(22, 12, 58, 86, t.tube, 6)
        b.box(26, 16, 40, 36, t.dark, 4)
        for x, y in ((30, 21), (36, 21), (30, 31)):
            b.disc(x, y, 2.8, INKY)
            b.disc(x - 0.8, y - 0.8, 0.9, (150, 170, 210))
    with b.turned(5):
        b.box(42, 13, 79, 89, t.deep, 6)
        b.box(44, 15, 77, 87, SCREEN, 4)
        b.polygon([(44, 20), (66, 15), (50, 87), (44, 87)], (255, 255, 255), 0.12)
        b.disc(60.5, 18.5, 1.4, INKY)
        b.box(50, 76, 71, 82, PAPER, 3, share=0.35)


def _tablet(b: Brush, t: Tones) -> None:
    b.box(10, 18, 82, 84, t.dark, 5)
    b.box(10, 17, 82, 82, t.face, 5)
    b.box(14, 21, 78, 78, SCREEN, 2)
    b.disc(60, 40, 9, (250, 210, 150), 0.8)
    b.polygon([(14, 62), (32, 48), (50, 64), (64, 54), (78, 66), (78, 78), (14, 78)], HILLS, 0.7)
    b.box(87, 20, 91, 78, t.tube, 2)
    b.polygon([(87, 77), (91, 77), (89, 84)], STEEL_DARK)


def _keyboard(b: Brush, t: Tones) -> None:
    with b.turned(-10):
        b.box(5, 33, 95, 72, t.deep, 5)
        b.box(5, 31, 95, 69, t.face, 5)
        for row in range(4):
            for column in range(10):
                if row < 3 or column not in (2, 3, 4, 5, 6):  # leaves room for the space bar
                    x, y = 9 + column * 8.25 + row % 2, 35 + row * 8
                    _key(b, t, x, y, 6.8, (row, column) in ((0, 0), (2, 9)))
        _key(b, t, 26.5, 59, 39.8, False)


def _key(b: Brush, t: Tones, x: float, y: float, wide: float, marked: bool) -> None:
    b.box(x, y + 1, x + wide, y + 6.8, t.deep)
    b.box(x, y, x + wide, y + 5.8, t.accent if marked else t.light)


def _mouse(b: Brush, t: Tones) -> None:
    with b.turned(22):
        b.blob([(50, 12), (70, 26), (73, 58), (62, 86), (38, 86), (27, 58), (30, 26)], t.deep)
        b.blob([(50, 11), (69, 25), (71, 56), (61, 83), (39, 83), (29, 56), (31, 25)], t.tube)
        b.line([(50, 11), (50, 44)], t.deep, 1.2)
        b.line([(31, 44), (69, 44)], t.deep, 1)
        b.box(46.5, 22, 53.5, 37, RUBBER, 3)
        b.box(48, 25, 52, 34, t.accent, 2)


def _monitor(b: Brush, t: Tones) -> None:
    b.box(45, 64, 55, 84, t.tube)
    b.oval(50, 85, 22, 4, t.dark)
    b.oval(50, 84, 22, 3.4, t.base)
    b.box(7, 16, 93, 70, t.deep, 2.5)
    b.box(9, 18, 91, 66, SCREEN, 1)
    b.disc(70, 34, 8, (255, 224, 160), 0.8)
    b.polygon([(9, 58), (28, 44), (48, 57), (72, 42), (91, 55), (91, 66), (9, 66)], HILLS, 0.7)
    b.polygon([(9, 18), (44, 18), (22, 66), (9, 66)], (255, 255, 255), 0.1)


def _camera(b: Brush, t: Tones) -> None:
    b.polygon([(36, 32), (40, 20), (62, 20), (66, 32)], t.dark)
    b.box(70, 26, 82, 32, STEEL, 1)
    b.box(9, 30, 91, 84, t.face, 7)
    b.box(9, 44, 91, 72, t.deep)
    b.disc(50, 57, 25, STEEL_FLAT)
    b.disc(50, 57, 22, INKY)
    b.disc(50, 57, 15, fade((70, 90, 150), (26, 30, 60)))
    b.disc(50, 57, 8, (24, 26, 48))
    b.oval(43, 50, 5, 4, (190, 210, 240), 0.85)
    b.box(16, 34, 26, 40, (255, 246, 220), 1.5)
    b.disc(83, 38, 2.4, t.accent)


def _speaker(b: Brush, t: Tones) -> None:
    b.box(26, 10, 74, 90, t.tube, 9)
    for y, radius in ((31, 12), (64, 18)):
        b.disc(50, y, radius + 2, t.deep)
        b.disc(50, y, radius, RUBBER)
        b.disc(50, y, radius * 0.62, (70, 74, 84))
        b.disc(50, y, radius * 0.3, fade((130, 136, 146), (56, 58, 66)))
    b.disc(50, 85.5, 1.5, t.accent)


def _watch(b: Brush, t: Tones) -> None:
    b.polygon([(37, 32), (40, 6), (60, 6), (63, 32)], t.tube)
    b.polygon([(37, 68), (40, 94), (60, 94), (63, 68)], t.tube)
    for y in (80, 85, 90):
        b.disc(50, y, 1.2, t.deep)
    b.box(73, 42, 77, 52, STEEL_FLAT, 1.5)
    b.box(26, 26, 74, 74, STEEL_FLAT, 14)
    b.box(29, 29, 71, 71, fade((40, 44, 66), (18, 18, 28)), 12)
    b.ring(50, 50, 15, 15, (70, 76, 100), 1.6)
    b.line(arc(50, 50, 15, 15, -90, 120), t.accent, 2.6)
    b.line([(50, 40), (50, 50), (57, 54)], PAPER, 2)


def _charger(b: Brush, t: Tones) -> None:
    b.curve([(46, 66), (46, 84), (64, 88), (84, 80), (82, 62)], (120, 124, 132), 3)
    b.box(79, 48, 86, 64, t.tube, 2)
    b.box(80.5, 42, 84.5, 49, STEEL, 1)
    b.box(24, 22, 30, 36, STEEL, 1.5)
    b.box(48, 22, 54, 36, STEEL, 1.5)
    b.box(15, 33, 63, 72, t.face, 9)
    b.box(19, 37, 40, 40, lighter(t.light, 0.4), 1.5)
    b.polygon([(41, 44), (32, 56), (38, 56), (36, 64), (46, 52), (40, 52)], t.accent)


def _cable(b: Brush, t: Tones) -> None:
    for radius in (32, 26.5, 21):
        b.ring(48, 52, radius, radius * 0.92, t.deep, 4.6)
        b.ring(48, 51.4, radius, radius * 0.92, t.base, 3.6)
    b.curve([(68, 72), (76, 84), (88, 80)], t.base, 4)
    b.curve([(20, 66), (12, 78), (14, 82)], t.base, 4)
    b.box(9, 76, 19, 90, t.face, 2)
    b.box(11, 89, 17, 95, STEEL)
    b.box(83, 58, 93, 80, t.face, 2)
    b.box(85, 50, 91, 59, STEEL, 1)
    b.box(42, 76, 54, 88, t.accent, 2)


def _gamepad(b: Brush, t: Tones) -> None:
    b.line([(34, 30), (44, 26)], t.deep, 7)
    b.line([(66, 30), (56, 26)], t.deep, 7)
    shape = [
        (30, 28),
        (70, 28),
        (86, 38),
        (94, 72),
        (84, 82),
        (68, 66),
        (32, 66),
        (16, 82),
        (6, 72),
    ]
    b.blob([(x, y + 2) for x, y in shape] + [(14, 40)], t.deep)
    b.blob([*shape, (14, 38)], t.face)
    b.box(24, 38, 30, 54, INKY, 1.5)
    b.box(19, 43, 35, 49, INKY, 1.5)
    for x, y, ink in ((72, 39, t.accent), (79, 46, PAPER), (65, 46, PAPER), (72, 53, t.accent)):
        b.disc(x, y, 3.4, ink)
    for x in (39, 61):
        b.disc(x, 58, 7, t.deep)
        b.disc(x, 57, 5.4, (84, 88, 98))
    b.box(45, 38, 55, 42, t.dark, 2)


def _router(b: Brush, t: Tones) -> None:
    for x, lean in ((18, -4), (50, 0), (82, 4)):
        b.line([(x, 62), (x + lean, 18)], t.deep, 4.4)
        b.line([(x - 0.6, 60), (x + lean - 0.6, 18)], t.dark, 2.6)
    b.box(6, 58, 94, 84, t.deep, 6)
    b.box(6, 56, 94, 80, t.face, 6)
    for index, x in enumerate((16, 24, 32, 40)):
        b.disc(x, 72, 2, (110, 225, 140) if index < 3 else (250, 190, 80))
    b.box(60, 66, 86, 76, t.dark, 2)
    b.line([(64, 71), (82, 71)], t.deep, 1.2)


def _printer(b: Brush, t: Tones) -> None:
    b.box(28, 14, 72, 48, PAPER, 1)
    b.box(34, 20, 66, 22, (170, 176, 186))
    b.box(34, 26, 58, 28, (170, 176, 186))
    b.box(10, 36, 90, 78, t.face, 6)
    b.box(10, 50, 90, 54, t.deep)
    b.box(20, 62, 80, 68, INKY, 2)
    b.polygon([(26, 66), (74, 66), (80, 90), (20, 90)], PAPER)
    b.box(32, 76, 52, 84, t.accent, 1)
    b.box(56, 77, 68, 79, (170, 176, 186))
    b.box(56, 82, 64, 84, (170, 176, 186))
    b.box(68, 41, 84, 46, SCREEN, 1)


def _vacuum(b: Brush, t: Tones) -> None:
    b.curve([(60, 62), (78, 40), (56, 14), (26, 22)], (96, 100, 110), 5)
    b.line([(27, 20), (14, 80)], STEEL_LIGHT, 4.5)
    b.line([(27, 20), (24, 34)], INKY, 6)
    b.polygon([(4, 90), (8, 80), (24, 80), (30, 90)], t.dark)
    b.blob([(46, 58), (70, 52), (90, 64), (94, 82), (84, 88), (44, 88), (38, 76)], t.face)
    b.box(58, 56, 74, 62, t.accent, 2)
    b.disc(80, 80, 11, INKY)
    b.disc(80, 80, 6, STEEL_FLAT)
    b.disc(47, 86, 5, INKY)


def _drill(b: Brush, t: Tones) -> None:
    b.box(4, 36, 24, 39, STEEL_FLAT)
    b.polygon([(20, 31), (34, 27), (34, 49), (20, 44)], RUBBER)
    b.polygon([(60, 46), (80, 46), (86, 78), (64, 78)], t.tube)
    b.blob([(32, 25), (62, 20), (86, 24), (90, 38), (84, 52), (58, 54), (32, 51)], t.face)
    b.box(58, 76, 94, 90, RUBBER, 3)
    b.box(62, 80, 78, 83, t.accent, 1)
    b.polygon([(52, 54), (60, 54), (62, 64), (55, 62)], INKY)
    for x in (66, 72, 78):
        b.box(x, 28, x + 3, 42, t.deep, 1.5)


def _toothbrush(b: Brush, t: Tones) -> None:
    with b.turned(28):
        b.box(46.5, 8, 53.5, 46, PAPER, 3)
        b.box(38, 8, 47, 26, GLASS, 1)
        for y in (9, 13, 17, 21):
            b.box(37, y, 47, y + 2.6, t.accent if y in (13, 17) else (150, 206, 226))
        b.box(43, 40, 57, 96, t.tube, 6)
        b.box(46, 54, 54, 66, t.dark, 4)
        b.disc(50, 74, 1.6, (120, 225, 140))


DEVICES: dict[str, Drawing] = {
    "headphones": _headphones,
    "earbuds": _earbuds,
    "laptop": _laptop,
    "phone": _phone,
    "tablet": _tablet,
    "keyboard": _keyboard,
    "mouse": _mouse,
    "monitor": _monitor,
    "camera": _camera,
    "speaker": _speaker,
    "watch": _watch,
    "charger": _charger,
    "cable": _cable,
    "gamepad": _gamepad,
    "router": _router,
    "printer": _printer,
    "vacuum": _vacuum,
    "drill": _drill,
    "toothbrush": _toothbrush,
}
