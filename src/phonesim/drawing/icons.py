"""Icons drawn on a 24 × 24 grid and cached as masks in any size.

An icon is a line of text in one of the tables (`icon_actions`, `icon_things`, `icon_phone`):
strokes separated by semicolons, each a key of `STROKES` and its numbers in grid units:

    line 5 12 19 12; ring 12 12 9; cut disc 12 12 3; curve@3 4 8 / 12 6 20 8

`@3` sets the stroke width (2 otherwise), `cut` erases instead of drawing, and in curves `/` makes
the point before it a sharp corner. All strokes have round ends; coordinates are their centre line.
An unknown name gives a neutral placeholder: a missing icon must never stop a phone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from phonesim.drawing import outlines
from phonesim.drawing.icon_actions import ACTIONS
from phonesim.drawing.icon_phone import PHONE
from phonesim.drawing.icon_things import THINGS
from phonesim.drawing.outlines import Point

GRID = 24
SCALE = 8  # drawn this many times larger, then averaged down
SMALL = 16  # pixels; strokes of icons up to this size are a little wider, to stay legible

ICONS: dict[str, str] = {**ACTIONS, **THINGS, **PHONE}
PLACEHOLDER = "frame 4 4 20 20 3"


class Pencil:
    """Draws strokes and shapes in grid units (24 × 24)."""

    def __init__(self, draw: ImageDraw.ImageDraw, boldness: float = 1.0) -> None:
        self._draw = draw
        self._boldness = boldness
        self.width = 2.0
        self.ink = 255

    def line(self, points: list[Point], closed: bool = False) -> None:
        points = [*points, points[0], points[1]] if closed else points
        width = self.width * self._boldness * SCALE
        scaled = [(x * SCALE, y * SCALE) for x, y in points]
        self._draw.line(scaled, fill=self.ink, width=round(width), joint="curve")
        for x, y in (scaled[0], scaled[-1]):
            box = (x - width / 2, y - width / 2, x + width / 2, y + width / 2)
            self._draw.ellipse(box, fill=self.ink)

    def fill(self, points: list[Point]) -> None:
        self._draw.polygon([(x * SCALE, y * SCALE) for x, y in points], fill=self.ink)

    def shape(self, points: list[Point]) -> None:
        """Fill a polygon with slightly rounded corners."""
        self.fill(points)
        self.width = min(self.width, 1.2)
        self.line(points, closed=True)

    def rays(self, x: float, y: float, inner: float, outer: float, count: float) -> None:
        starts = outlines.regular(x, y, (inner,), int(count), -90)
        ends = outlines.regular(x, y, (outer,), int(count), -90)
        for start, end in zip(starts, ends, strict=True):
            self.line([start, end])


def _pairs(words: list[str]) -> list[Point]:
    numbers = [float(word) for word in words if word != "/"]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _bent(words: list[str], closed: bool) -> list[Point]:
    """Return a smooth curve with sharp corners at the points that a slash follows."""
    if "/" not in words:
        return outlines.smooth(_pairs(words), closed)
    if closed:  # rotate, so that the curve starts and ends at its first corner
        first = words.index("/")
        words = [*words[first - 2 :], *words[:first], "/"]
    curve: list[Point] = []
    piece: list[str] = []
    for word in [*words, "/"]:
        if word != "/":
            piece.append(word)
        elif len(piece) > 2:
            curve += outlines.smooth(_pairs(piece))
            piece = piece[-2:]
    return curve


def _ring(x: float, y: float, wide: float, high: float | None = None) -> list[Point]:
    return outlines.oval(x, y, wide, high or wide)


def _arc(
    x: float, y: float, wide: float, start: float, end: float, high: float | None = None
) -> list[Point]:
    return outlines.arc(x, y, wide, high or wide, start, end)


def _numbers(words: list[str]) -> list[float]:
    return [float(word) for word in words]


STROKES: dict[str, Callable[[Pencil, list[str]], None]] = {
    "line": lambda p, words: p.line(_pairs(words)),
    "loop": lambda p, words: p.line(_pairs(words), closed=True),
    "shape": lambda p, words: p.shape(_pairs(words)),
    "curve": lambda p, words: p.line(_bent(words, False)),
    "petal": lambda p, words: p.line(_bent(words, True), closed=True),
    "blob": lambda p, words: p.shape(_bent(words, True)),
    "ring": lambda p, words: p.line(_ring(*_numbers(words)), closed=True),
    "disc": lambda p, words: p.fill(_ring(*_numbers(words))),
    "arc": lambda p, words: p.line(_arc(*_numbers(words))),
    "frame": lambda p, words: p.line(outlines.rounded_box(*_numbers(words)), closed=True),
    "box": lambda p, words: p.fill(outlines.rounded_box(*_numbers(words))),
    "rays": lambda p, words: p.rays(*_numbers(words)),
}


def draw_strokes(pencil: Pencil, strokes: str) -> None:
    for stroke in strokes.split(";"):
        word, *rest = stroke.split()
        pencil.ink = 0 if word == "cut" else 255
        if word == "cut":
            word, *rest = rest
        name, _, width = word.partition("@")
        pencil.width = float(width or 2.0)
        STROKES[name](pencil, rest)


@lru_cache(maxsize=2048)
def icon_mask(name: str, size: int) -> NDArray[np.uint8]:  # [size, size]
    """Return the icon's coverage per pixel, 0 to 255. A size below one gives an empty mask."""
    if size < 1:
        return np.zeros((0, 0), dtype=np.uint8)
    image = Image.new("L", (GRID * SCALE, GRID * SCALE))
    pencil = Pencil(ImageDraw.Draw(image), 1.15 if size <= SMALL else 1.0)
    draw_strokes(pencil, ICONS.get(name, PLACEHOLDER))
    return np.asarray(image.resize((size, size), Image.Resampling.LANCZOS))
