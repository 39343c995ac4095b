"""A row of a timetable: start and end, a coloured bar, and what it is."""

from __future__ import annotations

from dataclasses import dataclass

from phonesim.drawing.colors import Color
from phonesim.drawing.fonts import shorten, text_width
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.widget import Size


@dataclass(slots=True)
class AgendaRow:
    """One entry of an agenda at a certain time."""

    title: str
    begins: str
    ends: str
    detail: str
    color: Color
    on_tap: Handler
    on_hold: Handler | None = None

    def size(self, theme: Theme, width: int) -> Size:
        text = theme.body.line_height + theme.small.line_height
        return width, text + 2 * theme.row_pad + 8

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        x, y, width, height = x + 12, y + 3, width - 24, height - 6
        if theme.cards:
            scene.rounded(x, y, width, height, 10, theme.surface)
            scene.background = theme.surface
        times = max(44, *(text_width(t, theme.small) for t in (self.begins, self.ends)))
        top = y + (height - theme.body.line_height - theme.small.line_height) // 2
        second = top + theme.body.line_height
        scene.text(x + 8, top + 1, self.begins, theme.small, theme.text)
        scene.text(x + 8, second, self.ends, theme.small, theme.muted)
        scene.rounded(x + times + 16, y + 6, 4, height - 12, 2, self.color)
        left = x + times + 30
        room = x + width - 8 - left
        scene.text(left, top, shorten(self.title, theme.body, room), theme.body)
        scene.text(left, second, shorten(self.detail, theme.small, room), theme.small, theme.muted)
        scene.background = behind
        scene.element(
            "row",
            self.title,
            (x, y, width, height),
            detail=self.detail,
            value=f"{self.begins} – {self.ends}",
            on_tap=self.on_tap,
            on_hold=self.on_hold,
        )
