"""The rows of lists, and the scrolling area that contains them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from phonesim.drawing.colors import WHITE, Color, mixed
from phonesim.drawing.fonts import shorten, text_width, wrap
from phonesim.drawing.theme import Theme
from phonesim.scene import Drag, Handler, Scene
from phonesim.toolkit.boxes import Column
from phonesim.toolkit.controls import (
    CHECK,
    SWITCH,
    draw_check,
    draw_radio,
    draw_switch,
)
from phonesim.toolkit.surfaces import well_color
from phonesim.toolkit.widget import Size, Widget

FLING = 0.08  # seconds for which a list keeps rolling at the finger's speed
AVATAR_COLORS: tuple[Color, ...] = (
    (66, 133, 214), (214, 92, 92), (70, 160, 100), (150, 100, 200), (214, 140, 50), (60, 160, 170),
)  # fmt: skip


@dataclass(slots=True)
class ListRow:
    """A row of a list: leading picture, title, detail, trailing text or control.

    `avatar` draws the first letter in a disc; `picture` a square picture; `icon` an icon.
    With `switch`, `check` or `radio` the row shows that state, and `on_tap` changes it.
    `on_switch` makes the switch a separate target beside the row's own `on_tap`.
    """

    title: str
    detail: str = ""
    trailing: str = ""
    on_tap: Handler | None = None
    on_hold: Handler | None = None
    icon: str = ""
    avatar: str = ""
    picture: str = ""
    switch: bool | None = None
    on_switch: Handler | None = None
    check: bool | None = None
    radio: bool | None = None
    button: tuple[str, str, Handler] | None = None  # icon, label, handler of a button at the end
    selected: bool = False
    bold: bool = False
    detail_lines: int = 2

    def _lead(self) -> int:
        return 52 if self.picture else 46 if self.avatar else 40 if self.icon else 0

    def _trail(self, theme: Theme) -> int:
        room = text_width(self.trailing, theme.small) + 8 if self.trailing else 0
        if self.switch is not None:
            room += SWITCH[0] + 12
        if self.check is not None or self.radio is not None:
            room += CHECK + 12
        return room + (40 if self.button else 0)

    def _text_lines(self, theme: Theme, width: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        side = 28 if theme.cards else 16
        room = max(40, width - 2 * side - self._lead() - self._trail(theme))
        face = theme.strong if self.bold else theme.body
        detail = wrap(self.detail, theme.small, room, self.detail_lines) if self.detail else ()
        return wrap(self.title, face, room, 2), detail

    def size(self, theme: Theme, width: int) -> Size:
        title, detail = self._text_lines(theme, width)
        face = theme.strong if self.bold else theme.body
        text = len(title) * face.line_height + len(detail) * theme.small.line_height
        least = 56 if self.picture else 50 if self.avatar else 46
        return width, max(least, text + 2 * theme.row_pad) + (8 if theme.cards else 1)

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        outer = (x, y, width, height)
        if theme.cards:
            inset = 0 if behind == theme.surface else 12  # a card would be invisible on a sheet
            x, y, width, height = x + inset, y + 4, width - 2 * inset, height - 8
            fill = theme.tint if self.selected else theme.surface
            scene.rounded(x, y, width, height, 10, fill)
            scene.background = fill
        else:
            height -= 1
            if self.selected:
                scene.fill(x, y, width, height, theme.tint)
                scene.background = theme.tint
            scene.fill(x + 16, y + height, width - 16, 1, theme.line)
        self._place_lead(scene, x + 16, y, height)
        self._place_text(scene, x + 16 + self._lead(), y, height, outer[2])
        scene.element(
            "row",
            self.title,
            (x, y, width, height),
            detail=self.detail,
            value=self.trailing,
            on_tap=self.on_tap,
            on_hold=self.on_hold,
            checked=self._checked(),
            selected=self.selected,
        )
        self._place_trail(scene, x + width - 16, y, height)
        scene.background = behind

    def _checked(self) -> bool | None:
        if self.switch is not None and self.on_switch is None:
            return self.switch
        return self.check if self.check is not None else self.radio

    def _place_lead(self, scene: Scene, x: int, y: int, height: int) -> None:
        theme, middle = scene.theme, y + height // 2
        if self.picture:
            scene.canvas.picture(x, middle - 20, self.picture, 40, 40)
        elif self.avatar:
            behind = scene.background
            color = AVATAR_COLORS[sum(map(ord, self.avatar)) % len(AVATAR_COLORS)]
            scene.rounded(x, middle - 17, 34, 34, 17, color)
            scene.background = color
            scene.centred_text(
                (x, middle - 17, 34, 34), self.avatar[0].upper(), theme.strong, WHITE
            )
            scene.background = behind
        elif self.icon:
            scene.icon(x, middle - 11, self.icon, 22, theme.muted)

    def _place_text(self, scene: Scene, x: int, y: int, height: int, width: int) -> None:
        theme = scene.theme
        face = theme.strong if self.bold else theme.body
        title, detail = self._text_lines(theme, width)
        text = len(title) * face.line_height + len(detail) * theme.small.line_height
        top = y + (height - text) // 2
        for line in title:
            scene.text(x, top, line, face, theme.primary if self.selected else None)
            top += face.line_height
        for line in detail:
            scene.text(x, top, line, theme.small, theme.muted)
            top += theme.small.line_height

    def _place_trail(self, scene: Scene, right: int, y: int, height: int) -> None:
        theme, middle = scene.theme, y + height // 2
        if self.button:
            icon, label, handler = self.button
            scene.icon(right - 28, middle - 11, icon, 22, theme.muted)
            box = (right - 40, middle - 20, 48, 40)
            scene.element("button", label, box, on_tap=handler)
            right -= 40
        if self.switch is not None:
            left = right - SWITCH[0]
            draw_switch(scene, left, middle - SWITCH[1] // 2, self.switch)
            if self.on_switch:
                scene.element(
                    "switch",
                    self.title,
                    (left - 10, y, SWITCH[0] + 20, height),
                    on_tap=self.on_switch,
                    checked=self.switch,
                )
            right = left - 12
        if self.check is not None:
            draw_check(scene, right - CHECK, middle - CHECK // 2, self.check)
            right -= CHECK + 12
        if self.radio is not None:
            draw_radio(scene, right - CHECK, middle - CHECK // 2, self.radio)
            right -= CHECK + 12
        if self.trailing:
            left = right - text_width(self.trailing, theme.small)
            top = middle - theme.small.line_height // 2
            scene.text(left, top, self.trailing, theme.small, theme.muted)


@dataclass(slots=True)
class Bubble:
    """A message in a conversation: ours on the right, theirs on the left."""

    text: str
    ours: bool
    time: str = ""

    def _lines(self, theme: Theme, width: int) -> tuple[str, ...]:
        return wrap(self.text, theme.body, width * 3 // 4 - 24)

    def size(self, theme: Theme, width: int) -> Size:
        lines = len(self._lines(theme, width))
        return width, lines * theme.body.line_height + theme.tiny.line_height + 22

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        lines = self._lines(theme, width)
        wide = max(text_width(line, theme.body) for line in (*lines, self.time)) + 24
        left = x + width - wide - 12 if self.ours else x + 12
        fill = theme.primary if self.ours else well_color(scene)
        ink = theme.on_primary if self.ours else theme.text
        scene.rounded(left, y + 4, wide, height - 8, 14, fill)
        scene.background = fill
        for index, line in enumerate(lines):
            scene.text(left + 12, y + 10 + index * theme.body.line_height, line, theme.body, ink)
        bottom = y + 10 + len(lines) * theme.body.line_height
        scene.text(left + 12, bottom, self.time, theme.tiny, ink)
        scene.background = behind
        side: Literal["sent", "received"] = "sent" if self.ours else "received"
        scene.element("text", self.text, (left, y + 4, wide, height - 8), detail=side)


@dataclass(slots=True)
class Scroll:
    """A vertically scrolling column; after a fast swipe it keeps rolling."""

    children: Sequence[Widget]
    offset: int
    on_scroll: Callable[[int], None]
    gap: int = 0
    lead: int = 0  # padding before the first child
    tail: int = 0  # padding after the last child, where a button floats over the end

    def size(self, theme: Theme, width: int) -> Size:
        high = Column(self.children, gap=self.gap).size(theme, width)[1]
        return width, self.lead + high + self.tail

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        column = Column(self.children, gap=self.gap)
        content = self.lead + column.size(scene.theme, width)[1] + self.tail
        furthest = max(0, content - height)
        offset = min(self.offset, furthest)

        def dragged(drag: Drag) -> bool:
            if not drag.vertical or not furthest:
                return False
            way = drag.y - drag.to_y
            rolled = way + round(way / drag.seconds * FLING)
            self.on_scroll(min(furthest, max(0, offset + rolled)))
            return True

        clip = scene.canvas.clip
        scene.canvas.clip = (
            max(clip[0], x),
            max(clip[1], y),
            min(clip[2], x + width),
            min(clip[3], y + height),
        )
        if furthest:
            scene.element("scroll", "", (x, y, width, height), on_drag=dragged, scrollable=True)
        column.place(scene, x, y + self.lead - offset, width, content)
        if furthest:
            bar = max(24, height * height // content)
            top = y + (height - bar) * offset // furthest
            scene.fill(x + width - 4, top, 3, bar, scene.theme.line)
        scene.canvas.clip = clip


@dataclass(slots=True)
class Empty:
    """The placeholder of an empty list."""

    text: str
    icon: str = ""

    def size(self, theme: Theme, width: int) -> Size:
        return width, 160

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme = scene.theme
        if self.icon:
            faint = mixed(scene.background or theme.page, theme.text, 0.28)
            scene.icon(x + width // 2 - 24, y + 44, self.icon, 48, faint)
        line = shorten(self.text, theme.small, width - 32)
        scene.centred_text((x, y + 104, width, 20), line, theme.small, theme.muted)
        scene.element("text", self.text, (x, y + 104, width, 20))
