"""Interactive widgets: button, icon button, chip, switch, check box, slider, text field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from phonesim.drawing.colors import WHITE
from phonesim.drawing.fonts import shorten, text_width, wrap
from phonesim.drawing.scripts import starts_right
from phonesim.drawing.theme import Theme
from phonesim.scene import Drag, Handler, Scene
from phonesim.toolkit.surfaces import draw_framed, track_color, well_color
from phonesim.toolkit.widget import Size

SWITCH = (40, 22)  # width, height
CHECK = 20
FIELD_LINES = 6


@dataclass(slots=True)
class Button:
    """A button with a label; `look` is filled (the main one), soft, or plain text."""

    label: str
    on_tap: Handler
    look: Literal["filled", "soft", "plain", "danger"] = "filled"
    icon: str = ""
    enabled: bool = True
    high: int = 40

    def size(self, theme: Theme, width: int) -> Size:
        icon = 26 if self.icon else 0
        return min(width, text_width(self.label, theme.strong) + icon + 32), self.high

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        fill, ink = {
            "filled": (theme.primary, theme.on_primary),
            "soft": (theme.tint, theme.primary),
            "plain": (None, theme.primary),
            "danger": (None, theme.danger),
        }[self.look]
        if not self.enabled:
            fill, ink = track_color(theme), theme.muted
        if fill:
            scene.rounded(x, y, width, height, height // 2, fill)
            scene.background = fill
        room = width - (34 if self.icon else 12)
        label = shorten(self.label, theme.strong, room)
        wide = text_width(label, theme.strong) + (24 if self.icon else 0)
        left = x + (width - wide) // 2
        if self.icon:
            scene.icon(left, y + (height - 18) // 2, self.icon, 18, ink)
            left += 24
        scene.text(left, y + (height - theme.strong.line_height) // 2, label, theme.strong, ink)
        scene.background = behind
        scene.element(
            "button", self.label, (x, y, width, height), on_tap=self.on_tap, enabled=self.enabled
        )


@dataclass(slots=True)
class IconButton:
    """An icon to tap; its label is what a screen reader would read out."""

    icon: str
    label: str
    on_tap: Handler
    px: int = 22
    selected: bool = False

    def size(self, theme: Theme, width: int) -> Size:
        return 40, 40

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        left, top = x + (width - self.px) // 2, y + (height - self.px) // 2
        color = scene.theme.primary if self.selected else scene.theme.text
        scene.icon(left, top, self.icon, self.px, color)
        scene.element(
            "button",
            self.label,
            (x, y, width, height),
            on_tap=self.on_tap,
            selected=self.selected,
        )


@dataclass(slots=True)
class Chip:
    """A small choice in a pill."""

    label: str
    on_tap: Handler
    selected: bool = False

    def size(self, theme: Theme, width: int) -> Size:
        return min(width, max(40, text_width(self.label, theme.small) + 24)), 32

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        fill = theme.primary if self.selected else well_color(scene)
        ink = theme.on_primary if self.selected else theme.text
        scene.rounded(x, y, width, height, height // 2, fill)
        scene.background = fill
        scene.centred_text((x + 8, y, width - 16, height), self.label, theme.small, ink)
        scene.background = behind
        scene.element(
            "button",
            self.label,
            (x, y, width, height),
            on_tap=self.on_tap,
            selected=self.selected,
        )


def draw_switch(scene: Scene, x: int, y: int, on: bool) -> None:
    theme, behind = scene.theme, scene.background
    width, height = SWITCH
    track = theme.primary if on else track_color(theme)
    scene.rounded(x, y, width, height, height // 2, track)
    scene.background = track
    knob = (WHITE if not theme.dark else theme.page) if on else theme.muted
    size = 16 if on else 12
    inset = (height - size) // 2
    left = x + width - size - inset if on else x + inset
    scene.rounded(left, y + inset, size, size, size // 2, knob)
    scene.background = behind
    scene.canvas.mark("switch on" if on else "switch off", x, y, width, height)


def draw_check(scene: Scene, x: int, y: int, on: bool) -> None:
    theme, behind = scene.theme, scene.background
    if not on:
        draw_framed(scene, (x, y, CHECK, CHECK), 4, theme.muted, behind or theme.surface, 2)
        scene.canvas.mark("box empty", x, y, CHECK, CHECK)
        return
    scene.rounded(x, y, CHECK, CHECK, 4, theme.primary)
    scene.background = theme.primary
    scene.icon(x + 2, y + 2, "check", CHECK - 4, theme.on_primary)
    scene.background = behind
    scene.canvas.mark("box checked", x, y, CHECK, CHECK)


def draw_radio(scene: Scene, x: int, y: int, on: bool) -> None:
    theme, behind = scene.theme, scene.background
    rim, inside = (theme.primary if on else theme.muted), behind or theme.surface
    draw_framed(scene, (x, y, CHECK, CHECK), CHECK // 2, rim, inside, 2)
    scene.background = inside
    if on:
        scene.rounded(x + 5, y + 5, CHECK - 10, CHECK - 10, CHECK // 2, rim)
    scene.background = behind
    scene.canvas.mark("radio on" if on else "radio off", x, y, CHECK, CHECK)


@dataclass(slots=True)
class Slider:
    """A value in [0, 1], set by a tap or a drag on its track."""

    label: str
    share: float
    on_set: Callable[[float], None]
    shown: str = ""  # the value in words, for example "60 %"

    def size(self, theme: Theme, width: int) -> Size:
        return width, theme.small.line_height + 34

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        line = theme.small.line_height
        shown = self.shown or theme.language.percent(self.share)
        scene.text(x, y, self.label, theme.small, theme.muted)
        scene.text(x + width - text_width(shown, theme.small), y, shown, theme.small, theme.muted)
        middle = y + line + 16
        filled = round((width - 16) * self.share)
        scene.rounded(x, middle - 2, width, 4, 2, track_color(theme))
        scene.rounded(x, middle - 2, filled + 8, 4, 2, theme.primary)
        scene.rounded(x + filled, middle - 8, 16, 16, 8, theme.primary)
        scene.canvas.mark("knob", x + filled, middle - 8, 16, 16)
        scene.background = behind

        def set_at(at_x: int) -> None:
            self.on_set(min(1.0, max(0.0, (at_x - x - 8) / (width - 16))))

        def dragged(drag: Drag) -> bool:
            if drag.vertical:
                return False
            set_at(drag.to_x)
            return True

        track = (x, y + line, width, 32)
        scene.element(
            "slider",
            self.label,
            track,
            value=f"{self.share:.4f}",
            on_drag=dragged,
            on_tap_at=set_at,
        )


@dataclass(slots=True)
class TextField:
    """A text field. Made by `Ui.field`, which binds it to the page's memory."""

    key: str
    label: str
    value: str
    on_focus: Handler
    on_clear: Handler
    on_submit: Handler | None = None
    icon: str = ""
    secret: bool = False
    lines: int = 1

    def size(self, theme: Theme, width: int) -> Size:
        shown = len(self._lines(theme, width, focused=True))
        return width, max(self.lines, shown) * theme.body.line_height + 26

    def _lines(self, theme: Theme, width: int, *, focused: bool) -> tuple[str, ...]:
        """Return the visible part of a long text: its end while focused, else its start."""
        text = "•" * len(self.value) if self.secret else self.value
        room = width - 24 - (30 if self.icon else 0) - (26 if self.value else 0)
        if not focused:
            return wrap(text, theme.body, room, 1 if self.lines == 1 else FIELD_LINES)
        if self.lines == 1:
            while text and text_width(text, theme.body) > room:  # the end stays visible
                text = text[max(1, len(text) // 12) :]
            return (text,)
        return wrap(text, theme.body, room)[-FIELD_LINES:]

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        focused = scene.focused == self.key
        fill = well_color(scene)
        if focused:
            draw_framed(scene, (x, y + 2, width, height - 4), 10, theme.primary, fill, 2)
        else:
            scene.rounded(x, y + 2, width, height - 4, 10, fill)
        scene.background = fill
        left, top = x + 12, y + 13
        if self.icon:
            scene.icon(left, y + (height - 20) // 2, self.icon, 20, theme.muted)
            left += 30
        self._place_text(scene, left, top, width - (left - x) - 12, focused)
        scene.element(
            "field",
            self.label,
            (x, y, width, height),
            value=self.value,
            on_tap=self.on_focus,
            focused=focused,
        )
        if self.value:
            first_line = theme.body.line_height + 26  # the clear button is level with it
            box = (x + width - 36, y + (first_line - 36) // 2, 36, 36)
            scene.icon(box[0] + 9, box[1] + 9, "close", 18, theme.muted)
            clear = theme.language.tr("Clear {label}", label=self.label)
            scene.element("button", clear, box, on_tap=self.on_clear)
        scene.background = behind
        if focused:
            scene.on_submit = self.on_submit

    def _place_text(self, scene: Scene, left: int, top: int, room: int, focused: bool) -> None:
        theme = scene.theme
        if not self.value:
            after = left + 5 if focused else left  # the label starts after the caret, not under it
            label = shorten(self.label, theme.body, room)
            scene.text(after, top, label, theme.body, theme.muted)
        end = left
        around = 24 + (30 if self.icon else 0)
        for line in self._lines(theme, room + around, focused=focused):
            wide = text_width(line, theme.body)
            right = starts_right(line)  # right-aligned, ending before the clear button
            at = left + room - 26 - wide if right else left
            if line:
                scene.text(at, top, line, theme.body)
            end = at - 4 if right else at + wide
            top += theme.body.line_height
        if focused:
            caret = top - theme.body.line_height
            scene.fill(end + 1, caret, 2, theme.body.size + 3, theme.primary)
