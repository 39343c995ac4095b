"""A line chart drawn with Pillow alone: shares from 0 to 1 at a few places, with intervals.

Labels stand at the right end of their lines, spread where they would overlap. Intervals of several
lines are drawn next to each other, or as bands behind the lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT, SCALE = 1100, 640, 2  # drawn twice as large, to smooth slanted lines
LEFT, RIGHT, TOP, BOTTOM = 70, 210, 110, 70  # margins
BAND = 38  # opacity of a band, of 255
INK, FAINT, GRID = "#202124", "#5f6368", "#e3e5e8"


@dataclass(frozen=True, slots=True)
class Point:
    """A mean and its interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Line:
    """One compared item, with a point for each place."""

    label: str
    colour: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class LineChart:
    """The content of the chart."""

    title: str
    subtitle: str
    axis: str
    places: Sequence[str]
    lines: Sequence[Line]
    marks: Mapping[str, float]  # levels to compare with, drawn as dotted lines
    floor: float = 0.0  # lower end of the vertical axis
    ceiling: float = 1.0  # its upper end
    apart: int = 0  # so many of the last places are of another kind: no line leads there
    bands: bool = False  # draw intervals as bands

    def draw(self) -> Image.Image:
        picture = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE), "white")
        if self.bands:
            for line in self.lines:
                picture = self._with_band(picture, line)
        pen = _Pen(ImageDraw.Draw(picture))
        pen.text((LEFT, 22), self.title, 20, INK, "la")
        pen.text((LEFT, 52), self.subtitle, 14, FAINT, "la")
        self._draw_axes(pen)
        between = 0 if self.bands else 3
        for number, line in enumerate(self.lines):
            self._draw_line(pen, line, beside=(number - (len(self.lines) - 1) / 2) * between)
        self._draw_labels(pen)
        return picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)

    def _draw_axes(self, pen: _Pen) -> None:
        for tenth in range(round(10 * self.floor), round(10 * self.ceiling) + 1):
            y = self._height(tenth / 10)
            pen.line([(LEFT, y), (WIDTH - RIGHT, y)], GRID, 1)
            pen.text((LEFT - 10, y), f"{10 * tenth} %", 14, FAINT, "rm")
        for place, name in enumerate(self.places):
            pen.text((self._across(place), HEIGHT - BOTTOM + 10), name, 14, FAINT, "ma")
        middle = (LEFT + WIDTH - RIGHT) / 2
        pen.text((middle, HEIGHT - 28), self.axis, 14, FAINT, "ma")
        for name, level in self.marks.items():
            y = self._height(level)
            for x in range(LEFT, WIDTH - RIGHT, 8):
                pen.line([(x, y), (x + 3, y)], FAINT, 1)
            pen.text((LEFT + 4, y - 3), f"{name} {100 * level:.0f} %", 12, FAINT, "ld")

    def _with_band(self, picture: Image.Image, line: Line) -> Image.Image:
        """Add the line's interval as a translucent band, since bands of several lines overlap."""
        upper = [(self._across(n), self._height(p.high)) for n, p in enumerate(line.points)]
        lower = [(self._across(n), self._height(p.low)) for n, p in enumerate(line.points)]
        mask = Image.new("L", picture.size, 0)
        outline = [(x * SCALE, y * SCALE) for x, y in (*upper, *reversed(lower))]
        ImageDraw.Draw(mask).polygon(outline, fill=BAND)
        return Image.composite(Image.new("RGB", picture.size, line.colour), picture, mask)

    def _draw_line(self, pen: _Pen, line: Line, beside: float) -> None:
        across = [self._across(place) + beside for place in range(len(line.points))]
        if not self.bands:
            for x, point in zip(across, line.points, strict=True):
                ends = [(x, self._height(point.low)), (x, self._height(point.high))]
                pen.line(ends, line.colour, 1)
        means = [(x, self._height(p.mean)) for x, p in zip(across, line.points, strict=True)]
        pen.line(means[: len(means) - self.apart], line.colour, 2.5)
        for spot in means:
            pen.dot(spot, 3.5, line.colour)

    def _draw_labels(self, pen: _Pen) -> None:
        ends = sorted(self.lines, key=lambda line: -line.points[-1].mean)
        heights = _spread([self._height(line.points[-1].mean) for line in ends], apart=19)
        x = WIDTH - RIGHT
        for line, y in zip(ends, heights, strict=True):
            pen.line([(x + 2, self._height(line.points[-1].mean)), (x + 18, y)], line.colour, 1)
            pen.text((x + 22, y), line.label, 15, line.colour, "lm")

    def _height(self, share: float) -> float:
        room = HEIGHT - TOP - BOTTOM
        return HEIGHT - BOTTOM - room * (share - self.floor) / (self.ceiling - self.floor)

    def _across(self, place: int) -> float:
        room = WIDTH - LEFT - RIGHT - 60
        return LEFT + 30 + room * place / max(1, len(self.places) - 1)


def _spread(heights: list[float], apart: float) -> list[float]:
    """Move rising heights as little as needed until they are that far apart."""
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + apart) if placed else height)
    excess = sum(a - b for a, b in zip(placed, heights, strict=True)) / max(1, len(heights))
    return [height - excess for height in placed]


@dataclass(frozen=True, slots=True)
class _Pen:
    """Draws in the chart's own units."""

    draw_on: ImageDraw.ImageDraw

    def line(self, spots: Sequence[tuple[float, float]], colour: str, width: float) -> None:
        scaled = [(x * SCALE, y * SCALE) for x, y in spots]
        self.draw_on.line(scaled, fill=colour, width=round(width * SCALE), joint="curve")

    def dot(self, spot: tuple[float, float], radius: float, colour: str) -> None:
        x, y, r = spot[0] * SCALE, spot[1] * SCALE, radius * SCALE
        self.draw_on.ellipse((x - r, y - r, x + r, y + r), fill=colour)

    def text(
        self, spot: tuple[float, float], text: str, size: float, colour: str, anchor: str
    ) -> None:
        font = ImageFont.load_default(size * SCALE)
        place = (spot[0] * SCALE, spot[1] * SCALE)
        self.draw_on.text(place, text, fill=colour, font=font, anchor=anchor)
