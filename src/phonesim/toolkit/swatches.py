"""Choices by appearance: a colour in a disc, a picture in a frame."""

from __future__ import annotations

from dataclasses import dataclass

from phonesim.drawing.colors import WHITE, Color
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.widget import Size

DISC = 52


@dataclass(slots=True)
class Swatch:
    """A colour to choose, with its name below."""

    label: str
    color: Color
    on_tap: Handler
    selected: bool = False

    def size(self, theme: Theme, width: int) -> Size:
        return width, DISC + 14 + theme.small.line_height

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind, left = scene.theme, scene.background, x + (width - DISC) // 2
        scene.rounded(left, y + 2, DISC, DISC, DISC // 2, self.color)
        if self.selected:
            scene.background = self.color
            scene.icon(left + 14, y + 16, "check", DISC - 28, WHITE)
            scene.background = behind
        ink = theme.primary if self.selected else theme.text
        label = (x, y + DISC + 6, width, theme.small.line_height)
        scene.centred_text(label, self.label, theme.small, ink)
        scene.element(
            "button",
            self.label,
            (x, y, width, height),
            on_tap=self.on_tap,
            selected=self.selected,
        )


@dataclass(slots=True)
class PictureChoice:
    """A picture to choose, with its name below and a frame if it is chosen."""

    label: str
    key: str
    on_tap: Handler
    high: int
    selected: bool = False

    def size(self, theme: Theme, width: int) -> Size:
        return width, self.high + 8 + theme.small.line_height

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme = scene.theme
        scene.fill(x, y, width, self.high, theme.primary if self.selected else theme.line)
        rim = 3 if self.selected else 1
        scene.canvas.picture(x + rim, y + rim, self.key, width - 2 * rim, self.high - 2 * rim)
        ink = theme.primary if self.selected else theme.text
        label = (x, y + self.high + 4, width, theme.small.line_height)
        scene.centred_text(label, self.label, theme.small, ink)
        scene.element(
            "picture",
            self.label,
            (x, y, width, height),
            on_tap=self.on_tap,
            selected=self.selected,
        )
