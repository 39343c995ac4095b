"""The ground that charts are drawn on: an SVG of fixed size with axes, grid and labels.

Sizes are in CSS pixels; a page shows a chart in two of them, one for desks and one for hands
(`both_sizes`), so that letters are never scaled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from distrl.reporting.page.markup import Markup, join, tag
from distrl.reporting.page.scale import Scale, ticks

WIDE, NARROW = 1000, 350
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 14, 38


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of figures, what they are called, and how they are written."""

    low: float
    high: float
    label: str
    write: Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Frame:
    """An empty chart."""

    width: int
    height: int
    across: Axis
    up: Axis

    @property
    def x(self) -> Scale:
        return Scale(self.across.low, self.across.high, LEFT, self.width - RIGHT)

    @property
    def y(self) -> Scale:
        return Scale(self.up.low, self.up.high, self.height - BOTTOM, TOP)

    def draw(self, *marks: Markup, title: str) -> Markup:
        """The finished SVG with these marks on the grid; the title is for who cannot see it."""
        return svg(self.width, self.height, self._grid(), *marks, title=title)

    def _grid(self) -> Markup:
        parts = []
        for figure in ticks(self.up.low, self.up.high, 5):
            y = self.y.at(figure)
            parts.append(line(LEFT, y, self.width - RIGHT, y, "grid"))
            parts.append(words(LEFT - 8, y + 4, self.up.write(figure), "tick", anchor="end"))
        for figure in ticks(self.across.low, self.across.high, max(5, self.width // 90)):
            x = self.x.at(figure)
            parts.append(words(x, self.height - BOTTOM + 17, self.across.write(figure), "tick"))
        middle = (LEFT + self.width - RIGHT) / 2
        parts.append(words(middle, self.height - 4, self.across.label, "tick"))
        return tag("g", *parts)


def svg(width: int, height: int, *children: Markup, title: str) -> Markup:
    return tag(
        "svg",
        tag("title", title),
        *children,
        viewBox=f"0 0 {width} {height}",
        width=str(width),
        height=str(height),
        role="img",
    )


def both_sizes(draw: Callable[[int], Markup]) -> Markup:
    """A drawing for each kind of screen; the style shows the one that fits."""
    return join([tag("div", draw(WIDE), class_="wide"), tag("div", draw(NARROW), class_="narrow")])


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return tag("line", x1=_at(x1), y1=_at(y1), x2=_at(x2), y2=_at(y2), class_=kind)


def words(x: float, y: float, text: str, kind: str, anchor: str = "middle") -> Markup:
    return tag("text", text, x=_at(x), y=_at(y), class_=kind, text_anchor=anchor)


def box(x: float, y: float, width: float, height: float, kind: str, hint: str = "") -> Markup:
    inside = [tag("title", hint)] if hint else []
    return tag(
        "rect",
        *inside,
        x=_at(x),
        y=_at(y),
        width=_at(max(0.0, width)),
        height=_at(max(0.0, height)),
        class_=kind,
    )


def path(spots: list[tuple[float, float]], kind: str, *, closed: bool = False) -> Markup:
    """A line through spots, or the area that they enclose."""
    if len(spots) < 2:
        return Markup("")
    steps = " L".join(f"{_at(x)} {_at(y)}" for x, y in spots)
    return tag("path", d=f"M{steps}{' Z' if closed else ''}", class_=kind)


def _at(place: float) -> str:
    return f"{place:.1f}".removesuffix(".0")
