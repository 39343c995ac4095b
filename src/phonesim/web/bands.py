"""Widgets that give a web page its site's look: bands, banners, links, tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from phonesim.drawing.colors import WHITE, Color, mixed
from phonesim.drawing.fonts import text_width, wrap
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.texts import Kind, face_of
from phonesim.toolkit.widget import Size, Widget


@lru_cache(maxsize=256)
def _inked(theme: Theme, ink: Color) -> Theme:
    return replace(theme, text=ink, muted=ink, primary=ink)


@dataclass(slots=True)
class Band:
    """A widget on its own background colour, from edge to edge."""

    child: Widget
    color: Color | None = None  # None: the theme's surface colour
    ink: Color | None = None  # colour of the content
    pad: int = 4
    line: bool = False  # a line below the band

    def size(self, theme: Theme, width: int) -> Size:
        return width, self.child.size(theme, width)[1] + 2 * self.pad + self.line

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        color = self.color or theme.surface
        scene.fill(x, y, width, height, color)
        scene.background = color
        if self.ink:
            scene.theme = _inked(theme, self.ink)
        inner = height - 2 * self.pad - self.line
        self.child.place(scene, x, y + self.pad, width, inner)
        if self.line:
            scene.fill(x, y + height - 1, width, 1, theme.line)
        scene.theme, scene.background = theme, behind


@dataclass(slots=True)
class Banner:
    """A slogan in large letters beside a picture, on a soft background."""

    title: str
    text: str
    picture: str
    color: Color
    on_tap: Handler | None = None
    high: int = 132
    round: int = 12

    def size(self, theme: Theme, width: int) -> Size:
        title, text = self._lines(theme, width)
        words = len(title) * theme.title.line_height + len(text) * theme.small.line_height
        return width, max(self.high, words + 36)

    def _lines(self, theme: Theme, width: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        room = width - self.high - 16
        return wrap(self.title, theme.title, room, 3), wrap(self.text, theme.small, room, 4)

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        side = self.high - 24
        scene.rounded(x, y, width, height, self.round, self.color)
        scene.background = self.color
        left = x + width - side - 12
        scene.canvas.picture(left, y + (height - side) // 2, self.picture, side, side)
        title, text = self._lines(theme, width)
        words = len(title) * theme.title.line_height + len(text) * theme.small.line_height
        top = y + (height - words - 6) // 2
        for lines, face in ((title, theme.title), (text, theme.small)):
            for line in lines:
                scene.text(x + 16, top, line, face, WHITE)
                top += face.line_height
            top += 6
        scene.background = behind
        whole = (x, y, width, height)
        scene.element("row", self.title, whole, detail=self.text, on_tap=self.on_tap)


@dataclass(slots=True)
class Link:
    """Text that leads to another page."""

    label: str
    on_tap: Handler
    kind: Kind = "body"
    detail: str = ""
    ink: Color | None = None
    max_lines: int = 2

    def size(self, theme: Theme, width: int) -> Size:
        face = face_of(theme, self.kind)
        lines = wrap(self.label, face, width, self.max_lines)
        wide = max(text_width(line, face) for line in lines)
        return wide, max(26, len(lines) * face.line_height + 6)

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        face = face_of(scene.theme, self.kind)
        lines = wrap(self.label, face, width, self.max_lines)
        top = y + (height - len(lines) * face.line_height) // 2
        for line in lines:
            scene.text(x, top, line, face, self.ink or scene.theme.primary)
            top += face.line_height
        scene.element(
            "row", self.label, (x, y, width, height), detail=self.detail, on_tap=self.on_tap
        )


@dataclass(slots=True)
class PictureTile:
    """A category: its picture and its name."""

    label: str
    picture: str
    on_tap: Handler
    px: int = 64
    round_tile: bool = False

    def size(self, theme: Theme, width: int) -> Size:
        return width, self.px + theme.tiny.line_height + 10

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        left = x + (width - self.px) // 2
        if self.round_tile:
            rim = 8
            scene.rounded(left - rim // 2, y, self.px + rim, self.px + rim // 2, 14, theme.tint)
            scene.canvas.picture(left + 6, y + 8, self.picture, self.px - 12, self.px - 12)
        else:
            scene.canvas.picture(left, y, self.picture, self.px, self.px)
        scene.background = behind
        box = (x, y + self.px + 6, width, theme.tiny.line_height)
        scene.centred_text(box, self.label, theme.tiny)
        scene.element("button", self.label, (x, y, width, height), on_tap=self.on_tap)


@dataclass(slots=True)
class Pairs:
    """A small table of two columns: name and value."""

    rows: Sequence[tuple[str, str]]
    strong_last: bool = False

    def size(self, theme: Theme, width: int) -> Size:
        return width, len(self.rows) * (theme.small.line_height + 10)

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme = scene.theme
        high = theme.small.line_height + 10
        for index, (name, value) in enumerate(self.rows):
            top = y + index * high
            last = self.strong_last and index == len(self.rows) - 1
            face = theme.strong if last else theme.small
            scene.text(x, top + 5, name, face, theme.text if last else theme.muted)
            wide = text_width(value, face)
            scene.text(x + width - wide, top + 5, value, face)
            scene.fill(x, top + high - 1, width, 1, theme.line)
            scene.element("text", name, (x, top, width, high), value=value)


def soft(color: Color) -> Color:
    return mixed(color, WHITE, 0.82)
