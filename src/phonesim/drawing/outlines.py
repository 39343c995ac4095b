"""Outlines as lists of points: arcs, rounded boxes and smooth curves.

Icons and pictures are made of these. Points are rounded to a thousandth of a unit: the last bit of
a cosine differs between machines and must never decide about a pixel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Point = tuple[float, float]


def arc(
    x: float, y: float, wide: float, high: float, start: float, end: float, steps: int = 0
) -> list[Point]:
    """Return an elliptical arc with radii `wide`, `high`; degrees, clockwise from three o'clock."""
    steps = steps or max(6, math.ceil(abs(end - start) / 9))
    angles = (math.radians(start + (end - start) * i / steps) for i in range(steps + 1))
    return [(round(x + wide * math.cos(a), 3), round(y + high * math.sin(a), 3)) for a in angles]


def oval(x: float, y: float, wide: float, high: float) -> list[Point]:
    return arc(x, y, wide, high, 0, 360, 48)


def rounded_box(left: float, top: float, right: float, bottom: float, corner: float) -> list[Point]:
    corner = min(corner, (right - left) / 2, (bottom - top) / 2)
    if corner <= 0:
        return [(left, top), (right, top), (right, bottom), (left, bottom)]
    centres = (
        (right - corner, top + corner, -90),
        (right - corner, bottom - corner, 0),
        (left + corner, bottom - corner, 90),
        (left + corner, top + corner, 180),
    )
    return [p for x, y, at in centres for p in arc(x, y, corner, corner, at, at + 90, 8)]


def regular(x: float, y: float, radii: Sequence[float], corners: int, turn: float) -> list[Point]:
    """Return a polygon whose corners cycle through the radii: two radii give a star."""
    points = []
    for i in range(corners):
        radius = radii[i % len(radii)]
        points += arc(x, y, radius, radius, turn + 360 * i / corners, 360 + turn, 1)[:1]
    return points


def smooth(points: Sequence[Point], closed: bool = False, steps: int = 8) -> list[Point]:
    """Return a curve through all points (Catmull–Rom)."""
    if len(points) < 3:
        return list(points)
    last = len(points) - 1
    curve: list[Point] = []
    for i in range(last + 1 if closed else last):
        if closed:
            four = [points[(i + k) % (last + 1)] for k in (-1, 0, 1, 2)]
        else:
            four = [points[min(max(i + k, 0), last)] for k in (-1, 0, 1, 2)]
        curve += [_between(four, step / steps) for step in range(steps)]
    return curve if closed else [*curve, points[-1]]


def _between(four: Sequence[Point], t: float) -> Point:
    """Interpolate between the second and the third of four neighbours, at t in [0, 1]."""
    weights = (
        ((2 - t) * t - 1) * t / 2,
        ((3 * t - 5) * t * t + 2) / 2,
        ((4 - 3 * t) * t + 1) * t / 2,
        (t - 1) * t * t / 2,
    )
    x = sum(w * p[0] for w, p in zip(weights, four, strict=True))
    y = sum(w * p[1] for w, p in zip(weights, four, strict=True))
    return round(x, 3), round(y, 3)


def turned(points: Sequence[Point], degrees: float, x: float, y: float) -> list[Point]:
    """Return the points rotated clockwise around (x, y)."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [
        (
            round(x + (px - x) * cos - (py - y) * sin, 3),
            round(y + (px - x) * sin + (py - y) * cos, 3),
        )
        for px, py in points
    ]
