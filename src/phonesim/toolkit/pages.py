"""The full page of an app: bar, tabs, a scrolling body and a main action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phonesim.drawing.fonts import Face, shorten, text_width
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.controls import IconButton
from phonesim.toolkit.rows import Scroll
from phonesim.toolkit.widget import Widget

BAR = 48
TAB = 42
FAB = 52
WIDEST = 680  # layout units; on a wider page the body is centred


@dataclass(slots=True)
class Tabs:
    """Tabs below the bar (or at the bottom of the page); one of them is current."""

    labels: Sequence[str]
    current: int
    on_pick: Sequence[Handler]
    icons: Sequence[str] = ()

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        scene.fill(x, y, width, height, theme.surface)
        scene.background = theme.surface
        face, cells = self._cells(theme, width)
        left = x
        for index, (label, pick, cell) in enumerate(
            zip(self.labels, self.on_pick, cells, strict=True)
        ):
            here = index == self.current
            color = theme.primary if here else theme.muted
            if self.icons:
                scene.icon(left + cell // 2 - 10, y + 6, self.icons[index], 20, color)
                scene.centred_text((left, y + 26, cell, 20), label, face, color)
            else:
                scene.centred_text((left + 2, y, cell - 4, height - 3), label, face, color)
                if here:
                    scene.rounded(left + cell // 2 - 18, y + height - 3, 36, 3, 1, theme.primary)
            scene.element("tab", label, (left, y, cell, height), on_tap=pick, selected=here)
            left += cell
        scene.background = behind

    def _cells(self, theme: Theme, width: int) -> tuple[Face, list[int]]:
        """Return the face and each tab's width: all equal, or by label where labels are long."""
        count, face = len(self.labels), theme.tiny if self.icons else theme.strong
        wanted = [text_width(label, face) + 8 for label in self.labels]
        if max(wanted) <= width // count:
            return face, [width // count] * count
        if sum(wanted) > width:
            face = theme.tiny
            wanted = [text_width(label, face) + 8 for label in self.labels]
        spare = max(0, width - sum(wanted)) // count
        return face, [min(wide + spare, width // 2) for wide in wanted]


@dataclass(slots=True)
class Page:
    """A full page: bar, tabs, scrolling body, main action. Made by `Ui.page`."""

    title: str
    body: Scroll
    on_up: Handler | None  # None on an app's first page
    actions: Sequence[IconButton] = ()
    primary: IconButton | None = None
    tabs: Tabs | None = None
    foot: Widget | None = None  # fixed below the body
    head: Widget | None = None  # fixed below the bar, above the body

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme = scene.theme
        scene.background = theme.page
        scene.fill(x, y, width, height, theme.page)
        self._place_bar(scene, x, y, width)
        top, bottom = y + BAR, y + height
        if self.tabs and not self.tabs.icons:
            self.tabs.place(scene, x, top, width, TAB)
            top += TAB
        elif self.tabs:
            bottom -= BAR
            self.tabs.place(scene, x, bottom, width, BAR)
        x, width = x + max(0, width - WIDEST) // 2, min(width, WIDEST)
        if self.head:
            tall = self.head.size(theme, width)[1]
            self.head.place(scene, x, top, width, tall)
            top += tall
        if self.foot:
            bottom -= self.foot.size(theme, width)[1]
        if self.primary and theme.floating:
            self.body.tail = FAB + 24  # so that the last row can be scrolled clear of the button
        if theme.cards and not self.head:
            self.body.lead = 4  # keeps the first card off the bar
        self.body.place(scene, x, top, width, max(0, bottom - top))
        if self.foot:
            self.foot.place(scene, x, bottom, width, self.foot.size(theme, width)[1])
        if self.primary and theme.floating:
            self._place_floating(scene, x + width - FAB - 16, bottom - FAB - 16, self.primary)

    def _place_bar(self, scene: Scene, x: int, y: int, width: int) -> None:
        theme = scene.theme
        scene.fill(x, y, width, BAR, theme.surface)
        scene.background = theme.surface
        left, right = x + 16, x + width - 4
        if self.on_up:
            up = IconButton("back", theme.language.tr("Navigate up"), self.on_up)
            up.place(scene, x + 4, y + 4, 40, 40)
            left = x + 52
        shown = list(self.actions)
        if self.primary and not theme.floating:
            shown.append(self.primary)
        for action in reversed(shown):
            right -= 40
            action.place(scene, right, y + 4, 40, 40)
        title = shorten(self.title, theme.title, right - left - 4)
        if theme.centred:
            wide = text_width(title, theme.title)
            middle = x + (width - wide) // 2
            if not left <= middle <= right - wide - 8:  # else centre it in the room left
                middle = left + (right - left - wide) // 2
            left = middle
        scene.text(left, y + (BAR - theme.title.line_height) // 2, title, theme.title)
        scene.element("text", self.title, (left, y + 8, max(1, right - left), BAR - 16))
        scene.background = theme.page

    def _place_floating(self, scene: Scene, x: int, y: int, action: IconButton) -> None:
        theme, behind = scene.theme, scene.background
        scene.background = None  # it floats above the body, so its background is unknown
        scene.rounded(x, y, FAB, FAB, 16, theme.primary)
        scene.background = theme.primary
        scene.icon(x + 14, y + 14, action.icon, 24, theme.on_primary)
        scene.background = behind
        scene.element("button", action.label, (x, y, FAB, FAB), on_tap=action.on_tap)
