"""Meals seen from above: one dish, or several on one table, each drawn to match its name.

The key "dish:Ramen" shows one dish in the middle, "dish:Ramen+Dumplings+Green tea" shows all of
them side by side, for wide pictures. An unknown name gives a stew.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import partial

from distrl.records import Pixels
from phonesim.drawing.brush import Brush
from phonesim.drawing.colors import Color, darker, fade, lighter, mixed

Dish = Callable[[Brush, random.Random, float], None]  # the centre is (x, 50), the radius 40 units

WOODS: tuple[Color, ...] = ((150, 104, 68), (196, 178, 154), (92, 74, 64), (88, 104, 110))
WHITE, CRUST, DOUGH = (246, 245, 240), (206, 148, 82), (240, 214, 160)
RED, GREEN, LEAF, ORANGE = (204, 60, 44), (92, 150, 66), (58, 116, 56), (232, 142, 52)
CHEESE, BROWN, CHOCOLATE, CREAM = (250, 216, 124), (124, 76, 44), (82, 50, 36), (250, 236, 208)
SPREAD = 96.0  # units between the middles of dishes on one table


def draw_dish(name: str, width: int, height: int) -> Pixels:
    rng = random.Random(f"dish/{name}")
    wood = rng.choice(WOODS)
    b = Brush(width, height, fade(lighter(wood, 0.12), darker(wood, 0.15)))
    y = b.top + rng.uniform(4, 14)
    while y < b.bottom:
        b.band(y, y + 0.8, darker(wood, 0.22))
        y += rng.uniform(16, 24)
    names = name.split("+")
    for place, each in enumerate(names):
        x = 50 + (place - (len(names) - 1) / 2) * SPREAD
        b.glow(x + 2, 56, 52, 50, (24, 16, 12), 0.6)
        DISHES.get(each, _stew)(b, random.Random(f"dish/{each}"), x)
    return b.pixels()


# What it lies on, and what lies on it ------------------------------------------------------------


def _plate(b: Brush, x: float, color: Color = WHITE) -> None:
    b.disc(x, 50, 41, color)
    b.disc(x, 50, 30, fade(darker(color, 0.08), lighter(color, 0.3)))


def _bowl(b: Brush, x: float, outside: Color, filling: Color) -> None:
    b.disc(x, 50, 40, fade(lighter(outside, 0.2), darker(outside, 0.25)))
    b.disc(x, 50, 35, darker(outside, 0.35))
    b.disc(x, 51, 33.5, fade(darker(filling, 0.12), lighter(filling, 0.08)))


def _within(rng: random.Random, x: float, reach: float) -> tuple[float, float]:
    """Return a random point of a disc, uniform over its area."""
    far, turn = reach * math.sqrt(rng.random()), rng.uniform(0, 2 * math.pi)
    return round(x + far * math.cos(turn), 3), round(50 + far * math.sin(turn), 3)


def _leaves(b: Brush, rng: random.Random, x: float, count: int, reach: float, size: float) -> None:
    for _ in range(count):
        left, y = _within(rng, x, reach)
        ink = mixed(LEAF, (150, 190, 90), rng.random())
        with b.turned(rng.uniform(0, 360), left, y):
            outline = [
                (left - size, y),
                (left, y - size / 2),
                (left + size, y),
                (left, y + size / 2),
            ]
            b.blob(outline, ink)


def _strands(b: Brush, rng: random.Random, x: float, ink: Color, count: int) -> None:
    """Draw noodles."""
    for _ in range(count):
        left, y = _within(rng, x, 17)
        with b.turned(rng.uniform(0, 180), left, y):
            tone = mixed(ink, darker(ink, 0.25), rng.random())
            b.curve(
                [(left - 13, y), (left - 4, y - 5), (left + 4, y + 4), (left + 13, y)], tone, 2.2
            )


def _spots(
    b: Brush, rng: random.Random, x: float, ink: Color, count: int, reach: float, size: float
) -> None:
    for _ in range(count):
        left, y = _within(rng, x, reach)
        b.disc(left, y, size * rng.uniform(0.7, 1.2), mixed(ink, darker(ink, 0.2), rng.random()))


# Dishes ------------------------------------------------------------------------------------------


def _pizza(
    b: Brush, rng: random.Random, x: float, base: Color, topping: Color, size: float
) -> None:
    b.disc(x, 50, 41, fade(lighter(CRUST, 0.15), darker(CRUST, 0.12)))
    b.disc(x, 50, 36, darker(RED, 0.1))
    b.disc(x, 50, 34.5, base)
    _spots(b, rng, x, mixed(base, CHEESE, 0.7), 26, 31, 4)
    _spots(b, rng, x, topping, 14, 28, size)
    _leaves(b, rng, x, 6, 26, 5)
    for turn in range(0, 180, 45):
        with b.turned(turn + 12, x, 50):
            b.line([(x - 40, 50), (x + 40, 50)], darker(CRUST, 0.2), 0.7)


def _soup(b: Brush, rng: random.Random, x: float, bowl: Color, broth: Color) -> None:
    _bowl(b, x, bowl, broth)
    b.curve([(x - 16, 46), (x - 4, 40), (x + 8, 46), (x + 18, 42)], lighter(CREAM, 0.3), 2.6)
    _spots(b, rng, x, lighter(broth, 0.35), 8, 24, 1.8)
    _leaves(b, rng, x, 5, 18, 4)


def _ramen(b: Brush, rng: random.Random, x: float) -> None:
    _bowl(b, x, (58, 62, 84), (190, 118, 58))
    _strands(b, rng, x, (246, 218, 142), 26)
    b.box(x - 30, 30, x - 12, 44, (34, 54, 44), 1)
    for side in (-1, 1):
        b.oval(x + side * 9 + 6, 66, 8.5, 6.5, (252, 250, 244))
        b.oval(x + side * 9 + 6, 66, 4.6, 3.8, (238, 150, 48))
    for place in range(3):
        b.disc(x + 12 + place * 5, 34 + place * 4, 8, (222, 168, 140))
        b.ring(x + 12 + place * 5, 34 + place * 4, 6, 6, (180, 112, 92), 1.4)
    _spots(b, rng, x, (120, 180, 84), 14, 26, 1.5)


def _udon(b: Brush, rng: random.Random, x: float) -> None:
    _bowl(b, x, (150, 62, 54), (176, 128, 76))
    _strands(b, rng, x, (250, 240, 216), 24)
    _spots(b, rng, x, (150, 100, 60), 6, 22, 4.5)
    _spots(b, rng, x, (120, 180, 84), 12, 24, 1.6)


def _noodles(b: Brush, rng: random.Random, x: float, ink: Color, bits: Color) -> None:
    _plate(b, x, (224, 230, 232))
    b.disc(x, 50, 25, darker(ink, 0.3))
    _strands(b, rng, x, ink, 44)
    _spots(b, rng, x, bits, 9, 20, 3)
    _leaves(b, rng, x, 7, 20, 4)


def _pieces(b: Brush, rng: random.Random, x: float, shape: str, ink: Color) -> None:
    """Draw small pieces (dumplings, samosas or rolls) around a bowl of sauce."""
    _plate(b, x)
    for place in range(6):
        with b.turned(place * 60 + rng.uniform(-6, 6), x, 50):
            tone = fade(lighter(ink, 0.15), darker(ink, 0.18))
            if shape == "roll":
                b.box(x - 5, 16, x + 5, 39, tone, 4)
            elif shape == "triangle":
                b.blob([(x, 14), (x + 11, 36), (x, 37.5), (x - 11, 36)], tone)
            else:
                b.blob([(x - 10, 32), (x - 7, 22), (x, 18), (x + 7, 22), (x + 10, 32)], tone)
                for fold in (-5, 0, 5):
                    b.line([(x + fold, 21), (x + fold * 0.8, 26)], darker(ink, 0.22), 0.9)
    b.disc(x, 50, 11, (70, 78, 96))
    b.disc(x, 50, 9, fade((120, 56, 30), (160, 84, 44)))


def _curry(b: Brush, rng: random.Random, x: float, sauce: Color, bits: Color) -> None:
    _bowl(b, x, (176, 120, 60), sauce)
    b.blob([(x - 31, 44), (x - 8, 20), (x + 4, 46), (x - 6, 76), (x - 26, 66)], (248, 244, 232))
    for _ in range(60):
        left, y = _within(rng, x - 15, 11)
        b.oval(left, y * 1.5 - 26, 1.7, 0.7, (226, 218, 196))
    for _ in range(9):
        left, y = _within(rng, x + 14, 14)
        b.disc(left, y, rng.uniform(3, 5), mixed(bits, darker(bits, 0.25), rng.random()))
    _leaves(b, rng, x + 8, 6, 16, 4)


def _salad(b: Brush, rng: random.Random, x: float, bits: Color) -> None:
    _bowl(b, x, (226, 222, 210), (120, 160, 80))
    _leaves(b, rng, x, 46, 27, 9)
    _spots(b, rng, x, bits, 9, 24, 4.5)
    _spots(b, rng, x, (250, 246, 232), 8, 24, 2)


def _burger(b: Brush, rng: random.Random, x: float, patty: Color) -> None:
    """Draw a burger from the side; from above it is not recognisable."""
    b.oval(x, 84, 42, 7, (222, 214, 200))
    b.box(x - 31, 68, x + 31, 83, fade(CRUST, darker(CRUST, 0.2)), 7)
    b.box(x - 34, 59, x + 34, 70, fade(lighter(patty, 0.1), darker(patty, 0.25)), 5)
    b.polygon([(x - 33, 57), (x + 33, 57), (x + 22, 68), (x + 4, 60), (x - 16, 67)], CHEESE)
    b.box(x - 31, 52, x + 31, 58, RED, 3)
    wave = [(x - 36 + step * 6, 49 + (4 if step % 2 else 0)) for step in range(13)]
    b.blob([*wave, (x + 34, 54), (x - 34, 54)], (122, 178, 76))
    top = [(x - 33, 49), (x - 30, 32), (x - 16, 20), (x + 16, 20), (x + 30, 32), (x + 33, 49)]
    b.blob(top, fade(lighter(CRUST, 0.25), CRUST))
    for _ in range(14):
        left, y = x + rng.uniform(-22, 22), rng.uniform(24, 38)
        b.oval(left, y, 1.7, 1, CREAM)


def _fries(b: Brush, rng: random.Random, x: float) -> None:
    b.oval(x, 86, 34, 6, (30, 22, 18), 0.3)
    for place in range(17):
        left = x - 24 + place * 3
        lean, top = rng.uniform(-5, 5), rng.uniform(12, 34)
        ink = mixed(CHEESE, (226, 160, 62), rng.random())
        b.polygon([(left, 66), (left + lean, top), (left + lean + 4, top), (left + 4, 66)], ink)
    b.polygon(
        [(x - 30, 46), (x + 30, 46), (x + 23, 88), (x - 23, 88)], fade(RED, darker(RED, 0.25))
    )
    b.oval(x, 45, 29, 5, darker(RED, 0.35))
    for place in range(12):
        left = x - 25 + place * 4.2
        b.box(left, 34 + rng.uniform(-6, 4), left + 3.6, 49, mixed(CHEESE, ORANGE, 0.2), 1)
    b.box(x - 12, 60, x + 12, 74, (250, 240, 226), 4)


def _slice(b: Brush, rng: random.Random, x: float, sponge: Color, icing: Color) -> None:
    """Draw a piece of cake from the side."""
    b.oval(x, 80, 43, 8, WHITE)
    b.oval(x, 79, 34, 5.5, (222, 220, 214))
    b.polygon([(x - 34, 42), (x + 22, 34), (x + 34, 44)], fade(lighter(icing, 0.2), icing))
    b.polygon([(x - 34, 42), (x + 34, 44), (x + 34, 78), (x - 34, 76)], sponge)
    for y in (46.0, 58.0, 70.0):
        b.polygon([(x - 34, y), (x + 34, y + 1), (x + 34, y + 6), (x - 34, y + 5)], icing)
    for _ in range(22):
        left, y = x + rng.uniform(-31, 31), rng.choice((53.5, 65.5)) + rng.uniform(-1.5, 2)
        b.disc(left, y, 0.8, darker(sponge, 0.25))


def _pancakes(b: Brush, rng: random.Random, x: float) -> None:
    b.oval(x, 80, 43, 9, WHITE)
    for y in (76, 68, 60, 52):
        b.oval(x + rng.uniform(-2, 2), y, 31, 9, darker(CRUST, 0.25))
        b.oval(x, y - 3, 31, 9, fade(lighter(CRUST, 0.3), CRUST))
    b.blob(
        [(x - 20, 48), (x + 4, 42), (x + 22, 49), (x + 18, 66), (x + 9, 56), (x - 12, 55)], BROWN
    )
    b.polygon([(x - 7, 42), (x + 4, 39), (x + 8, 46), (x - 3, 49)], (252, 236, 150))
    for left in (-24, 24, 31):
        b.disc(x + left, 78, 4, (72, 74, 150))


def _cup(b: Brush, _: random.Random, x: float, cup: Color, drink: Color, foam: Color) -> None:
    b.disc(x, 52, 40, lighter(cup, 0.5))
    b.disc(x, 52, 34, darker(lighter(cup, 0.5), 0.08))
    b.line([(x + 22, 38), (x + 36, 28)], cup, 7)
    b.disc(x, 52, 27, cup)
    b.disc(x, 52, 23.5, fade(drink, lighter(drink, 0.15)))
    b.blob([(x - 12, 48), (x - 2, 42), (x + 12, 50), (x + 4, 60), (x - 10, 58)], foam, 0.85)


def _glass(b: Brush, _: random.Random, x: float, drink: Color) -> None:
    b.oval(x, 90, 22, 4, (30, 22, 18), 0.35)
    b.polygon([(x - 24, 18), (x + 24, 18), (x + 17, 90), (x - 17, 90)], (222, 232, 236), 0.55)
    b.polygon(
        [(x - 22, 30), (x + 22, 30), (x + 16, 87), (x - 16, 87)], fade(drink, darker(drink, 0.15))
    )
    b.oval(x, 30, 22, 4, lighter(drink, 0.3))
    b.line([(x + 4, 50), (x + 16, 4)], (236, 92, 92), 3)
    b.disc(x - 20, 24, 10, ORANGE)
    b.disc(x - 20, 24, 7.5, (250, 190, 90))
    b.line([(x - 15, 38), (x - 12, 78)], lighter(drink, 0.5), 2)


def _bread(b: Brush, rng: random.Random, x: float, green: bool) -> None:
    """Draw a round loaf on a board; with `green`, a flat one with herbs."""
    b.box(x - 42, 14, x + 42, 86, fade((222, 184, 132), (196, 152, 100)), 8)
    b.disc(x, 50, 33, fade(lighter(CRUST, 0.1), darker(CRUST, 0.3)))
    b.disc(x, 49, 28, fade(lighter(CRUST, 0.3), CRUST))
    if green:
        _spots(b, rng, x, (176, 112, 54), 10, 24, 3)
        _leaves(b, rng, x, 14, 24, 3.5)
        return
    for left in (-14, 0, 14):
        b.curve([(x + left - 4, 28), (x + left + 3, 48), (x + left - 3, 70)], CREAM, 3.4)
    for side in (-1, 1):
        for step in range(4):
            y = 34 + step * 9
            b.line([(x + side * 20, y), (x + side * 25, y - 4)], lighter(CRUST, 0.5), 1.5)


def _tomatoes(b: Brush, rng: random.Random, x: float) -> None:
    _bowl(b, x, (92, 124, 150), (70, 92, 112))
    for place in range(7):
        turn = place * math.pi / 3
        left = x + (round(19 * math.cos(turn), 3) if place else 0)
        y = 50 + (round(19 * math.sin(turn), 3) if place else 0)
        ink = mixed(RED, ORANGE, rng.random() * 0.35)
        b.disc(left, y, 11.5, darker(ink, 0.25))
        b.disc(left, y - 0.6, 10.8, fade(lighter(ink, 0.18), ink))
        b.oval(left - 4, y - 5, 2.6, 1.8, (255, 226, 214))
        for leaf in range(5):
            with b.turned(leaf * 72 + rng.uniform(0, 30), left, y):
                b.polygon([(left - 1.2, y), (left, y - 6), (left + 1.2, y)], LEAF)


def _pudding(b: Brush, rng: random.Random, x: float) -> None:
    _bowl(b, x, (200, 120, 120), (250, 240, 218))
    _spots(b, rng, x, (236, 222, 190), 40, 28, 1.6)
    b.glow(x, 50, 18, 18, BROWN, 0.55)
    _spots(b, rng, x, (150, 40, 60), 5, 10, 3.4)


def _stew(b: Brush, rng: random.Random, x: float) -> None:
    _bowl(b, x, (120, 130, 140), (150, 90, 50))
    for ink in (ORANGE, GREEN, CREAM, BROWN):
        _spots(b, rng, x, ink, 7, 25, 4)


DISHES: dict[str, Dish] = {
    "Margherita": partial(_pizza, base=(214, 92, 58), topping=(252, 246, 226), size=5),
    "Four cheeses": partial(_pizza, base=(244, 206, 120), topping=(252, 238, 190), size=4),
    "Garden pizza": partial(_pizza, base=(226, 150, 84), topping=(110, 160, 70), size=3.6),
    "Mushroom pizza": partial(_pizza, base=(238, 190, 110), topping=(196, 170, 140), size=4),
    "Spicy salami": partial(_pizza, base=(236, 170, 84), topping=(176, 44, 40), size=5.4),
    "Ramen": _ramen,
    "Udon soup": _udon,
    "Fried noodles": partial(_noodles, ink=(206, 140, 66), bits=(210, 80, 60)),
    "Rice noodles": partial(_noodles, ink=(244, 234, 208), bits=(240, 150, 110)),
    "Dumplings": partial(_pieces, shape="dumpling", ink=(246, 230, 200)),
    "Spring rolls": partial(_pieces, shape="roll", ink=(216, 152, 76)),
    "Samosas": partial(_pieces, shape="triangle", ink=(214, 156, 84)),
    "Green tea": partial(_cup, cup=(88, 116, 100), drink=(150, 172, 76), foam=(186, 202, 120)),
    "Hot chocolate": partial(_cup, cup=(214, 110, 96), drink=CHOCOLATE, foam=(250, 242, 232)),
    "Mango drink": partial(_glass, drink=(250, 184, 62)),
    "Lentil curry": partial(_curry, sauce=(222, 158, 56), bits=(190, 110, 40)),
    "Butter chicken": partial(_curry, sauce=(224, 116, 52), bits=(238, 190, 140)),
    "Vegetable curry": partial(_curry, sauce=(206, 142, 50), bits=(110, 160, 70)),
    "Garlic bread": partial(_bread, green=True),
    "Sourdough": partial(_bread, green=False),
    "Rice pudding": _pudding,
    "Rocket salad": partial(_salad, bits=(204, 60, 44)),
    "Big green bowl": partial(_salad, bits=(200, 220, 130)),
    "Beet salad": partial(_salad, bits=(140, 28, 84)),
    "Carrot soup": partial(_soup, bowl=(70, 96, 110), broth=(236, 140, 48)),
    "House burger": partial(_burger, patty=(110, 64, 42)),
    "Bean burger": partial(_burger, patty=(146, 92, 56)),
    "Late burger": partial(_burger, patty=(92, 56, 42)),
    "Fries": _fries,
    "Apple cake": partial(_slice, sponge=(232, 190, 120), icing=(250, 226, 170)),
    "Tiramisu": partial(_slice, sponge=(236, 208, 166), icing=CHOCOLATE),
    "Pancakes": _pancakes,
    "Tomatoes": _tomatoes,
}  # fmt: skip
