"""A chat message that can be held: its sender, an icon if it is not text, a star."""

from __future__ import annotations

from dataclasses import dataclass

from phonesim.drawing.fonts import text_width, wrap
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.surfaces import well_color
from phonesim.toolkit.widget import Size


@dataclass(slots=True)
class MessageRow:
    """A message: ours on the right, others' on the left, with the sender's name in groups."""

    text: str
    ours: bool
    time: str
    on_hold: Handler
    sender: str = ""
    icon: str = ""
    starred: bool = False

    def _lead(self) -> int:
        return 28 if self.icon else 0

    def _lines(self, theme: Theme, width: int) -> tuple[str, ...]:
        return wrap(self.text, theme.body, width * 3 // 4 - 24 - self._lead())

    def size(self, theme: Theme, width: int) -> Size:
        high = len(self._lines(theme, width)) * theme.body.line_height
        return width, high + theme.tiny.line_height * (2 if self.sender else 1) + 22

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        lines, foot = self._lines(theme, width), f"★ {self.time}" if self.starred else self.time
        widest = max(text_width(line, theme.body) for line in (*lines, foot)) + self._lead()
        wide = max(widest, text_width(self.sender, theme.tiny) if self.sender else 0) + 24
        left = x + width - wide - 12 if self.ours else x + 12
        fill = theme.primary if self.ours else well_color(scene)
        ink = theme.on_primary if self.ours else theme.text
        scene.rounded(left, y + 4, wide, height - 8, 14, fill)
        scene.background = fill
        top = y + 10
        if self.sender:
            scene.text(left + 12, top, self.sender, theme.tiny, theme.primary)
            top += theme.tiny.line_height
        if self.icon:
            scene.icon(left + 10, top - 1, self.icon, 20, ink)
        for line in lines:
            scene.text(left + 12 + self._lead(), top, line, theme.body, ink)
            top += theme.body.line_height
        scene.text(left + 12, top, foot, theme.tiny, ink)
        scene.background = behind
        side = (
            "sent" if self.ours else f"received from {self.sender}" if self.sender else "received"
        )
        box = (left, y + 4, wide, height - 8)
        scene.element("text", self.text, box, detail=side, on_hold=self.on_hold)
