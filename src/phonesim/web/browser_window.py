"""The browser's frame around a page: the address bar in the phone's theme, the page in its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phonesim.drawing.fonts import shorten
from phonesim.drawing.theme import Theme
from phonesim.scene import Handler, Scene
from phonesim.toolkit.controls import IconButton, TextField
from phonesim.toolkit.modals import Dialog
from phonesim.toolkit.rows import Scroll
from phonesim.toolkit.surfaces import draw_framed
from phonesim.toolkit.widget import Size, Widget

BAR = 52
ADDRESS_LABEL = "Search or type address"


@dataclass(slots=True)
class AddressField:
    """Shows the current domain; a tap turns it into a text field."""

    url: str
    field: TextField
    on_tap: Handler

    def size(self, theme: Theme, width: int) -> Size:
        return width, 40

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        if scene.focused == self.field.key:
            high = self.field.size(theme, width)[1]
            self.field.place(scene, x, y + (height - high) // 2, width, high)
            return
        scene.rounded(x, y, width, height, height // 2, theme.field)
        scene.background = theme.field
        scene.icon(
            x + 12, y + (height - 16) // 2, "lock" if self.url else "search", 16, theme.muted
        )
        shown = self.url.partition("/")[0] or ADDRESS_LABEL
        color = theme.text if self.url else theme.muted
        text = shorten(shown, theme.small, width - 48)
        scene.text(x + 36, y + (height - theme.small.line_height) // 2, text, theme.small, color)
        scene.background = behind
        scene.element(
            "field", ADDRESS_LABEL, (x, y, width, height), value=self.url, on_tap=self.on_tap
        )


@dataclass(slots=True)
class TabsButton:
    """A button that shows how many tabs are open."""

    count: int
    on_tap: Handler

    def size(self, theme: Theme, width: int) -> Size:
        return 38, 40

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, behind = scene.theme, scene.background
        left, top = x + (width - 22) // 2, y + (height - 22) // 2
        inside = behind or theme.surface
        draw_framed(scene, (left, top, 22, 22), 5, theme.text, inside, 2)
        scene.background = inside
        scene.centred_text((left, top, 22, 22), str(self.count), theme.tiny)
        scene.background = behind
        scene.element("button", "Tabs", (x, y, width, height), on_tap=self.on_tap)


@dataclass(slots=True)
class BrowserWindow:
    """A page inside the browser. `look` is the page's theme; the bar keeps the phone's."""

    address: AddressField
    before: Sequence[IconButton]
    after: Sequence[Widget]
    body: Scroll
    look: Theme
    head: Widget | None = None
    foot: Widget | None = None
    notice: Dialog | None = None
    bar_at_foot: bool = False

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        phone_theme = scene.theme
        top, bottom = y + BAR, y + height
        bar = y
        if self.bar_at_foot:
            top, bottom, bar = y, y + height - BAR, y + height - BAR
        scene.theme = self.look
        self._place_page(scene, x, top, width, bottom - top)
        scene.theme = phone_theme
        self._place_bar(scene, x, bar, width)
        if self.notice:
            self.notice.place(scene, x, y, width, height)

    def _place_page(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        look = self.look
        scene.background = look.page
        scene.fill(x, y, width, height, look.page)
        top, bottom = y, y + height
        if self.head:
            top += self.head.size(look, width)[1]
            self.head.place(scene, x, y, width, top - y)
        foot = None if scene.focused else self.foot  # there is no room for it above a keyboard
        if foot:
            bottom -= foot.size(look, width)[1]
        self.body.place(scene, x, top, width, max(0, bottom - top))
        if foot:
            foot.place(scene, x, bottom, width, foot.size(look, width)[1])

    def _place_bar(self, scene: Scene, x: int, y: int, width: int) -> None:
        theme = scene.theme
        scene.fill(x, y, width, BAR, theme.surface)
        scene.background = theme.surface
        left, right = x + 6, x + width - 2
        for button in self.before:
            button.place(scene, left - 4, y + 6, 38, 40)
            left += 36
        for widget in reversed(self.after):
            wide = widget.size(theme, 40)[0] - 2
            right -= wide
            widget.place(scene, right, y + 6, wide, 40)
        self.address.place(scene, left + 2, y + 6, right - left - 4, 40)
        scene.fill(x, y if self.bar_at_foot else y + BAR - 1, width, 1, theme.line)
        scene.background = theme.page
