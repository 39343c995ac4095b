"""A row for a product of the customer's: in the cart, on a list, in an order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phonesim.drawing.fonts import wrap
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.controls import IconButton
from phonesim.toolkit.widget import Size, Widget

PICTURE = 64
TOOLS = 40


@dataclass(slots=True)
class ItemRow:
    """A product with its picture, a line about it, and tools below."""

    name: str
    detail: str
    picture: str
    on_tap: Handler
    tools: Sequence[Widget] = ()

    def _text_height(self, theme: Theme, width: int) -> int:
        lines = len(wrap(self.name, theme.strong, width - PICTURE - 40, 2))
        details = len(wrap(self.detail, theme.small, width - PICTURE - 40, 2))
        return lines * theme.strong.line_height + details * theme.small.line_height

    def size(self, theme: Theme, width: int) -> Size:
        tools = TOOLS if self.tools else 0
        return width, max(PICTURE + 16, self._text_height(theme, width) + tools + 14)

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme = scene.theme
        scene.canvas.picture(x + 12, y + 8, self.picture, PICTURE, PICTURE)
        left, top, room = x + PICTURE + 24, y + 7, width - PICTURE - 40
        for line in wrap(self.name, theme.strong, room, 2):
            scene.text(left, top, line, theme.strong)
            top += theme.strong.line_height
        for line in wrap(self.detail, theme.small, room, 2):
            scene.text(left, top, line, theme.small, theme.muted)
            top += theme.small.line_height
        scene.element(
            "row", self.name, (x, y, width, height - 1), detail=self.detail, on_tap=self.on_tap
        )
        self._place_tools(scene, left - 8, top)
        scene.fill(x + 12, y + height - 1, width - 24, 1, theme.line)

    def _place_tools(self, scene: Scene, x: int, y: int) -> None:
        for tool in self.tools:
            wide, high = tool.size(scene.theme, 200)
            if not isinstance(tool, IconButton):
                y_inset = (TOOLS - high) // 2
                tool.place(scene, x + 4, y + y_inset, wide, high)
                x += wide + 8
                continue
            tool.place(scene, x, y, wide, TOOLS)
            x += wide
