"""Windows over a page: dialog, menu and sheet. While one is open, nothing below can be touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phonesim.drawing.colors import mixed
from phonesim.drawing.theme import Theme
from phonesim.scene import Drag, Handler, Scene, Touch
from phonesim.toolkit.boxes import Column, Row
from phonesim.toolkit.controls import Button
from phonesim.toolkit.rows import Scroll
from phonesim.toolkit.texts import Text
from phonesim.toolkit.widget import Widget

MENU_WIDTH = 210
WIDEST_DIALOG, WIDEST_SHEET = 480, 640  # on tablets and in landscape


def _swallow(_: Drag) -> bool:
    return True


def _open(
    scene: Scene, rect: tuple[int, int, int, int], name: str, on_close: Handler | None
) -> None:
    """Dim what lies below and start a window; a tap beside it calls `on_close`, if there is one."""
    x, y, width, height = rect
    left, top, right, bottom = scene.canvas.clip
    scene.canvas.dim(left, top, right - left, bottom - top)
    scene.open_window(name, alone=True)
    scene.touches.append(Touch((left, top, right, bottom), on_close, on_drag=_swallow))
    scene.touches.append(Touch((x, y, x + width, y + height), on_tap=lambda: None))
    scene.background = None
    scene.rounded(x, y, width, height, 16, scene.theme.surface)
    scene.background = scene.theme.surface


@dataclass(slots=True)
class Dialog:
    """A question in the middle of the screen. Made by `Ui.dialog`."""

    title: str
    body: Sequence[Widget]
    buttons: Sequence[Button]
    on_close: Handler | None
    window: str = "dialog"

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, wide = scene.theme, min(width - 48, WIDEST_DIALOG)
        inner = wide - 40
        content = Column([Text(self.title, "title", max_lines=3), *self.body], gap=10)
        foot = self._foot(theme, inner)
        foot_high = foot.size(theme, inner)[1]
        tall = max(0, min(content.size(theme, inner)[1], height - 64 - foot_high))
        high = 18 + tall + 14 + foot_high + 12
        left, top = x + (width - wide) // 2, y + max(8, (height - high) // 2)
        _open(scene, (left, top, wide, high), self.window, self.on_close)
        clip = scene.canvas.clip
        scene.canvas.clip = (left, top, left + wide, top + 18 + tall)  # keep off the buttons
        content.place(scene, left + 20, top + 18, inner, tall)
        scene.canvas.clip = clip
        foot.place(scene, left + 20, top + high - foot_high - 12, inner, foot_high)

    def _foot(self, theme: Theme, width: int) -> Widget:
        wanted = sum(button.size(theme, width)[0] + 4 for button in self.buttons)
        if wanted <= width:
            return Row(self.buttons, gap=4, align="right")
        return Column(self.buttons, gap=4)


@dataclass(slots=True)
class Menu:
    """Choices below the right end of the bar. Made by `Ui.menu`."""

    body: Scroll
    on_close: Handler

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        high = min(self.body.size(scene.theme, MENU_WIDTH)[1], height - 40)
        left, top = x + width - MENU_WIDTH - 8, y + 10
        _open(scene, (left, top, MENU_WIDTH, high + 16), "dialog", self.on_close)
        self.body.place(scene, left, top + 8, MENU_WIDTH, high)


@dataclass(slots=True)
class Sheet:
    """Choices at the bottom of the screen, below a title. Made by `Ui.sheet`."""

    title: str
    body: Scroll
    on_close: Handler

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme = scene.theme
        x, width = x + max(0, width - WIDEST_SHEET) // 2, min(width, WIDEST_SHEET)
        bar = theme.title.line_height + 28
        high = min(bar + self.body.size(theme, width)[1] + 12, height - 72)
        top = y + height - high
        _open(scene, (x, top, width, high + 16), "dialog", self.on_close)
        scene.rounded(x + width // 2 - 16, top + 7, 32, 4, 2, mixed(theme.line, theme.muted, 0.4))
        Text(self.title, "title", max_lines=1).place(
            scene, x + 16, top + 18, width - 32, theme.title.line_height
        )
        self.body.place(scene, x, top + bar, width, high - bar)


Modal = Dialog | Menu | Sheet
