"""Widgets that only display: text, headings, icons, pictures, progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from phonesim.drawing.colors import Color
from phonesim.drawing.fonts import Face, text_width, wrap
from phonesim.drawing.scripts import starts_right
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.surfaces import track_color
from phonesim.toolkit.widget import Size

Kind = Literal["headline", "title", "body", "strong", "small", "tiny"]
Ink = Literal["text", "muted", "primary", "danger", "on_primary"]


def face_of(theme: Theme, kind: Kind) -> Face:
    face: Face = getattr(theme, kind)
    return face


def color_of(theme: Theme, ink: Ink | Color) -> Color:
    if isinstance(ink, tuple):
        return ink
    color: Color = getattr(theme, ink)
    return color


@dataclass(slots=True)
class Text:
    """Lines of text, wrapped to the available width."""

    text: str
    kind: Kind = "body"
    ink: Ink | Color = "text"
    max_lines: int = 99
    align: Literal["left", "centre", "right"] = "left"

    def size(self, theme: Theme, width: int) -> Size:
        face = face_of(theme, self.kind)
        lines = wrap(self.text, face, width, self.max_lines)
        return max(text_width(line, face) for line in lines), len(lines) * face.line_height

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        face = face_of(scene.theme, self.kind)
        color = color_of(scene.theme, self.ink)
        for index, line in enumerate(wrap(self.text, face, width, self.max_lines)):
            spare = width - text_width(line, face)
            align = "right" if self.align == "left" and starts_right(line) else self.align
            left = x + {"left": 0, "centre": spare // 2, "right": spare}[align]
            scene.text(left, y + index * face.line_height, line, face, color)
        scene.element("text", self.text, (x, y, width, height))


@dataclass(slots=True)
class Heading:
    """A small coloured heading above a group of rows."""

    text: str

    def size(self, theme: Theme, width: int) -> Size:
        return width, theme.strong.line_height + 18

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme = scene.theme
        scene.text(x + 16, y + 12, self.text, theme.strong, theme.primary)
        scene.element("text", self.text, (x + 16, y + 12, width - 32, theme.strong.line_height))


@dataclass(slots=True)
class Icon:
    """One icon. A label lists it in the scene's elements; a handler makes it tappable."""

    name: str
    px: int = 24
    ink: Ink | Color = "text"
    label: str = ""
    on_tap: Handler | None = None

    def size(self, theme: Theme, width: int) -> Size:
        return self.px, self.px

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        left, top = x + (width - self.px) // 2, y + (height - self.px) // 2
        scene.icon(left, top, self.name, self.px, color_of(scene.theme, self.ink))
        if self.label or self.on_tap:
            scene.element("picture", self.label, (x, y, width, height), on_tap=self.on_tap)


@dataclass(slots=True)
class Picture:
    """A picture drawn from its key, as wide as available unless `px` gives the width."""

    key: str
    px: int | None = None
    high: int | None = None
    label: str = ""
    on_tap: Handler | None = None
    on_hold: Handler | None = None

    def size(self, theme: Theme, width: int) -> Size:
        wide = self.px if self.px is not None else width
        return wide, self.high if self.high is not None else wide

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        wide, high = self.size(scene.theme, width)
        scene.canvas.picture(x, y, self.key, wide, high)
        if self.label or self.on_tap:
            scene.element(
                "picture", self.label, (x, y, wide, high), on_tap=self.on_tap, on_hold=self.on_hold
            )


@dataclass(slots=True)
class Progress:
    """A progress bar, filled by a share in [0, 1]."""

    share: float
    label: str = ""

    def size(self, theme: Theme, width: int) -> Size:
        return width, 8

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        scene.rounded(x, y + 2, width, 4, 2, track_color(scene.theme))
        filled = round(width * min(1.0, max(0.0, self.share)))
        if filled > 4:
            scene.rounded(x, y + 2, filled, 4, 2, scene.theme.primary)
        if self.label:
            scene.element("text", self.label, (x, y, width, height), value=f"{self.share:.0%}")
