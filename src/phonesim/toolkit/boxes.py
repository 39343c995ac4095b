"""Layout widgets that arrange others: column, row, flow, grid, card, padding, space and line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from phonesim.drawing.colors import Color
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.surfaces import draw_framed
from phonesim.toolkit.widget import Size, Widget


@dataclass(slots=True)
class Column:
    """Children stacked vertically, each as wide as the column."""

    children: Sequence[Widget]
    gap: int = 0
    pad: int = 0

    def size(self, theme: Theme, width: int) -> Size:
        inner = width - 2 * self.pad
        heights = [child.size(theme, inner)[1] for child in self.children]
        return width, sum(heights) + self.gap * max(0, len(heights) - 1) + 2 * self.pad

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        inner = width - 2 * self.pad
        top = y + self.pad
        _, clip_top, _, clip_bottom = scene.canvas.clip
        for child in self.children:
            child_height = child.size(scene.theme, inner)[1]
            if top + child_height > clip_top and top < clip_bottom:  # else clipped away
                child.place(scene, x + self.pad, top, inner, child_height)
            top += child_height + self.gap


@dataclass(slots=True)
class Row:
    """Children side by side. `stretch` is the index of the child that takes the remaining width."""

    children: Sequence[Widget]
    gap: int = 8
    stretch: int | None = None
    align: Literal["left", "right", "centre", "spread"] = "left"

    def _widths(self, theme: Theme, width: int) -> list[int]:
        free = width - self.gap * max(0, len(self.children) - 1)
        if self.align == "spread":
            return [free // max(1, len(self.children))] * len(self.children)
        widths = [
            0 if index == self.stretch else child.size(theme, free)[0]
            for index, child in enumerate(self.children)
        ]
        if self.stretch is not None:
            widths[self.stretch] = max(0, free - sum(widths))
        return widths

    def size(self, theme: Theme, width: int) -> Size:
        widths = self._widths(theme, width)
        heights = [c.size(theme, w)[1] for c, w in zip(self.children, widths, strict=True)]
        natural = sum(widths) + self.gap * max(0, len(widths) - 1)
        wide = width if self.stretch is not None or self.align != "left" else min(width, natural)
        return wide, max(heights, default=0)

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        widths = self._widths(scene.theme, width)
        used = sum(widths) + self.gap * max(0, len(widths) - 1)
        left = x + {"right": width - used, "centre": (width - used) // 2}.get(self.align, 0)
        for child, child_width in zip(self.children, widths, strict=True):
            child_height = child.size(scene.theme, child_width)[1]
            child.place(scene, left, y + (height - child_height) // 2, child_width, child_height)
            left += child_width + self.gap


@dataclass(slots=True)
class Flow:
    """Children side by side at their natural widths, wrapped into as many lines as needed."""

    children: Sequence[Widget]
    gap: int = 8

    def _lines(self, theme: Theme, width: int) -> list[list[tuple[Widget, int, int]]]:
        lines: list[list[tuple[Widget, int, int]]] = [[]]
        left = 0
        for child in self.children:
            wide, high = child.size(theme, width)
            if lines[-1] and left + wide > width:
                lines.append([])
                left = 0
            lines[-1].append((child, wide, high))
            left += wide + self.gap
        return lines

    def size(self, theme: Theme, width: int) -> Size:
        heights = [max((h for _, _, h in line), default=0) for line in self._lines(theme, width)]
        return width, sum(heights) + self.gap * max(0, len(heights) - 1)

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        top = y
        for line in self._lines(scene.theme, width):
            left = x
            for child, wide, high in line:
                child.place(scene, left, top, wide, high)
                left += wide + self.gap
            top += max((h for _, _, h in line), default=0) + self.gap


@dataclass(slots=True)
class Grid:
    """Children in columns of equal width."""

    children: Sequence[Widget]
    columns: int
    gap: int = 8

    def _cell(self, width: int) -> int:
        return (width - self.gap * (self.columns - 1)) // self.columns

    def size(self, theme: Theme, width: int) -> Size:
        cell = self._cell(width)
        heights = [
            max(child.size(theme, cell)[1] for child in self.children[i : i + self.columns])
            for i in range(0, len(self.children), self.columns)
        ]
        return width, sum(heights) + self.gap * max(0, len(heights) - 1)

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        cell, top = self._cell(width), y
        for start in range(0, len(self.children), self.columns):
            line = self.children[start : start + self.columns]
            line_height = max(child.size(scene.theme, cell)[1] for child in line)
            for column, child in enumerate(line):
                child.place(scene, x + column * (cell + self.gap), top, cell, line_height)
            top += line_height + self.gap


@dataclass(slots=True)
class Card:
    """A raised box around one widget. With `on_tap`, the whole card can be tapped."""

    child: Widget
    label: str = ""
    on_tap: Handler | None = None
    on_hold: Handler | None = None
    pad: int = 12
    color: Color | None = None

    def size(self, theme: Theme, width: int) -> Size:
        return width, self.child.size(theme, width - 2 * self.pad)[1] + 2 * self.pad

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        color = self.color or scene.theme.surface
        behind = scene.background
        draw_framed(scene, (x, y, width, height), 12, scene.theme.line, color, 1)
        scene.background = color
        if self.on_tap or self.on_hold:
            scene.element(
                "row", self.label, (x, y, width, height), on_tap=self.on_tap, on_hold=self.on_hold
            )
        inner = width - 2 * self.pad
        self.child.place(scene, x + self.pad, y + self.pad, inner, height - 2 * self.pad)
        scene.background = behind


@dataclass(slots=True)
class Pad:
    """Padding around one widget."""

    child: Widget
    sides: int = 16
    top: int = 8
    bottom: int = 8

    def size(self, theme: Theme, width: int) -> Size:
        return width, self.child.size(theme, width - 2 * self.sides)[1] + self.top + self.bottom

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        inner = width - 2 * self.sides
        self.child.place(
            scene, x + self.sides, y + self.top, inner, height - self.top - self.bottom
        )


@dataclass(slots=True)
class Space:
    """Empty room of a given size."""

    height: int = 8
    width: int = 0

    def size(self, theme: Theme, width: int) -> Size:
        return self.width, self.height

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        pass


@dataclass(slots=True)
class Line:
    """A thin horizontal line."""

    def size(self, theme: Theme, width: int) -> Size:
        return width, 1

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        scene.fill(x, y, width, 1, scene.theme.line)
