"""Ground, water, trees and stars, shared by wallpapers and photographs."""

from __future__ import annotations

import itertools
import math
import random

from phonesim.drawing.brush import Brush
from phonesim.drawing.colors import Color, Ink, mixed
from phonesim.drawing.outlines import Point


def rolling(b: Brush, rng: random.Random, level: float, height: float) -> list[Point]:
    """Return a soft skyline across the picture: three waves of random phase around `level`."""
    waves = [
        (height * share, rng.uniform(*length), rng.uniform(0, 6.28))
        for share, length in ((0.6, (70, 120)), (0.3, (35, 55)), (0.1, (14, 22)))
    ]
    xs = _steps(b, 2.5)
    return [
        (x, round(level + sum(a * math.sin(6.2832 * x / w + p) for a, w, p in waves), 3))
        for x in xs
    ]


def jagged(
    b: Brush, rng: random.Random, level: float, height: float, step: float = 5.0
) -> list[Point]:
    """Return a rocky skyline across the picture: peaks of random height at and above `level`."""
    points, high = [], False
    x = b.left - step
    while x < b.right + 2 * step:
        top = level - height * (rng.uniform(0.5, 1.0) if high else rng.uniform(0.0, 0.4))
        points.append((round(x, 3), round(top, 3)))
        x, high = x + step * rng.uniform(0.8, 2.2), not high
    return _roughened(points, rng, height * 0.10)


def _roughened(points: list[Point], rng: random.Random, amount: float) -> list[Point]:
    """Split every segment of a line in two, twice, and shift the midpoints a little."""
    for size in (amount, amount / 2):
        rough = [points[0]]
        for (ax, ay), (bx, by) in itertools.pairwise(points):
            middle = (ay + by) / 2 + rng.uniform(-size, size)
            rough += [(round((ax + bx) / 2, 3), round(middle, 3)), (bx, by)]
        points = rough
    return points


def _steps(b: Brush, step: float) -> list[float]:
    count = math.ceil((b.right - b.left) / step) + 1
    return [b.left + (b.right - b.left) * i / count for i in range(count + 1)]


def stars(b: Brush, rng: random.Random, count: int, foot: float) -> None:
    """Draw small lights between the top of the picture and `foot`."""
    for _ in range(count):
        x, y = rng.uniform(b.left, b.right), rng.uniform(b.top, foot)
        size, share = rng.choice((0.25, 0.35, 0.5)), rng.uniform(0.35, 1.0)
        b.box(x - size, y - size, x + size, y + size, (255, 255, 240), size, share)


def pines(
    b: Brush, rng: random.Random, level: float, size: tuple[float, float], ink: Color, gap: float
) -> None:
    """Draw a row of fir trees standing on `level`."""
    x = b.left - gap
    while x < b.right + gap:
        pine(b, x, level + rng.uniform(-1, 1), rng.uniform(*size), ink)
        x += gap * rng.uniform(0.5, 1.4)


def wooded(
    b: Brush, rng: random.Random, line: list[Point], size: tuple[float, float], ink: Color
) -> None:
    """Draw groups of fir trees along a skyline. Call it before drawing the hill below them."""
    for x, y in line:
        if rng.random() < 0.45:
            pine(b, x + rng.uniform(-1, 1), y + 1.2, rng.uniform(*size), ink)


def pine(b: Brush, x: float, foot: float, height: float, ink: Ink) -> None:
    half = height * 0.21
    outline: list[Point] = [(x, foot - height)]
    for part, wide in ((0.36, 0.45), (0.3, 0.25), (0.62, 0.75), (0.56, 0.5), (0.92, 1.0)):
        outline.append((x + half * wide, foot - height * (1 - part)))
    mirrored = [(2 * x - px, py) for px, py in reversed(outline[1:])]
    trunk = [(x + half * 0.12, foot - height * 0.08), (x + half * 0.12, foot)]
    b.polygon([*outline, *trunk, *[(2 * x - px, py) for px, py in reversed(trunk)], *mirrored], ink)


def tree(b: Brush, x: float, foot: float, height: float, leaves: Color) -> None:
    """Draw a round leafy tree."""
    b.line([(x, foot), (x, foot - height * 0.5)], (92, 66, 48), height * 0.08)
    for dx, dy, r, share in ((-0.16, 0.5, 0.2, 0.18), (0.17, 0.52, 0.2, 0.1), (0, 0.7, 0.26, 0.0)):
        ink = mixed(leaves, (20, 40, 30), share)
        b.disc(x + dx * height, foot - dy * height, r * height, ink)
    b.disc(
        x - height * 0.08, foot - height * 0.78, height * 0.11, mixed(leaves, (255, 255, 200), 0.2)
    )


def ripples(b: Brush, rng: random.Random, top: float, color: Color, count: int, x: float) -> None:
    """Draw glitter on water: short strokes around `x` that widen and spread towards the viewer."""
    for _ in range(count):
        depth = rng.random()
        y = top + (b.bottom - top) * depth**1.4
        wide = 2 + 9 * depth * rng.random()
        at = x + rng.uniform(-1, 1) * (5 + 22 * depth)
        b.oval(at, y, wide, 0.25 + 0.5 * depth, color, 0.25 + 0.4 * rng.random())


def cloud(b: Brush, x: float, y: float, size: float, color: Color, share: float = 0.85) -> None:
    for dx, dy, wide, high in ((-0.6, 0.1, 0.8, 0.3), (0.6, 0.12, 0.8, 0.28), (0, -0.05, 0.8, 0.5)):
        b.glow(x + dx * size, y + dy * size, wide * size, high * size, color, share)
