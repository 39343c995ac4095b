"""A row with a check box: the box toggles the item, the rest of the row opens it."""

from __future__ import annotations

from dataclasses import dataclass

from phonesim.drawing.fonts import text_width, wrap
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.controls import CHECK, draw_check
from phonesim.toolkit.widget import Size

LEAD = 48  # from the left edge to the title


@dataclass(slots=True)
class CheckRow:
    """A checklist item, struck through once done. `button` = (icon, label, handler) at the end."""

    title: str
    done: bool
    on_check: Handler
    on_tap: Handler | None = None
    on_hold: Handler | None = None
    detail: str = ""
    urgent: bool = False  # draw the second line in red
    button: tuple[str, str, Handler] | None = None
    lit: bool = False  # draw the button's icon in the primary colour

    def _title_lines(self, theme: Theme, width: int) -> tuple[str, ...]:
        sides = 28 if theme.cards else 16
        room = width - 2 * sides - LEAD + 16 - (40 if self.button else 0)
        return wrap(self.title, theme.body, room, 2)

    def _text_height(self, theme: Theme, width: int) -> int:
        lines = len(self._title_lines(theme, width)) * theme.body.line_height
        return lines + (theme.small.line_height if self.detail else 0)

    def size(self, theme: Theme, width: int) -> Size:
        text = self._text_height(theme, width)
        return width, max(46, text + 2 * theme.row_pad) + (8 if theme.cards else 1)

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind, outer = scene.theme, scene.background, width
        if theme.cards:
            x, y, width, height = x + 12, y + 4, width - 24, height - 8
            scene.rounded(x, y, width, height, 10, theme.surface)
            scene.background = theme.surface
        else:
            height -= 1
            scene.fill(x + LEAD, y + height, width - LEAD, 1, theme.line)
        scene.element(
            "row",
            self.title,
            (x, y, width, height),
            detail=self.detail,
            on_tap=self.on_tap or self.on_check,
            on_hold=self.on_hold,
        )
        draw_check(scene, x + 16, y + (height - CHECK) // 2, self.done)
        self._place_text(
            scene, x + LEAD, y + (height - self._text_height(theme, outer)) // 2, outer
        )
        box = (x, y, LEAD, height)
        scene.element("checkbox", self.title, box, on_tap=self.on_check, checked=self.done)
        if self.button:
            icon, label, handler = self.button
            right, middle = x + width - 16, y + height // 2
            ink = theme.primary if self.lit else theme.muted
            scene.icon(right - 26, middle - 11, icon, 22, ink)
            scene.element("button", label, (right - 38, y, 50, height), on_tap=handler)
        scene.background = behind

    def _place_text(self, scene: Scene, x: int, y: int, width: int) -> None:
        theme = scene.theme
        for line in self._title_lines(theme, width):
            scene.text(x, y, line, theme.body, theme.muted if self.done else theme.text)
            if self.done:
                middle = y + theme.body.line_height // 2
                scene.fill(x, middle, text_width(line, theme.body), 1, theme.muted)
            y += theme.body.line_height
        if self.detail:
            late = self.urgent and not self.done
            scene.text(x, y, self.detail, theme.small, theme.danger if late else theme.muted)
