"""One frame being drawn: the canvas, the elements on it, and the regions that react to touches.

Widgets draw through a scene and register themselves in it; the phone then looks up the handler
under a point. `background` is the colour behind what is drawn now (None over a picture), so that
text and corners can be copied from cached tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from distrl.hierarchy import Element, Rect
from phonesim.drawing.canvas import Canvas
from phonesim.drawing.colors import Color
from phonesim.drawing.fonts import Face, shorten, text_width
from phonesim.drawing.theme import Theme

Handler = Callable[[], None]


class Drag(NamedTuple):
    """The path of a finger over the screen, in layout units."""

    x: int
    y: int
    to_x: int
    to_y: int
    seconds: float

    @property
    def vertical(self) -> bool:
        return abs(self.to_y - self.y) >= abs(self.to_x - self.x)


class Touch(NamedTuple):
    """A region that reacts. `on_drag` and `on_drop` return whether they handled the drag;
    `on_tap_at` gets the x, `on_pinch` the factor by which two fingers moved apart.
    """

    bounds: Rect
    on_tap: Handler | None = None
    on_hold: Handler | None = None
    on_drag: Callable[[Drag], bool] | None = None
    on_tap_at: Callable[[int], None] | None = None
    on_double_tap: Handler | None = None
    on_drop: Callable[[Drag], bool] | None = None
    on_pinch: Callable[[float], None] | None = None


class Scene:
    """A frame that is being drawn."""

    __slots__ = (
        "background",
        "canvas",
        "elements",
        "focused",
        "inert",
        "on_submit",
        "theme",
        "touches",
        "window",
    )

    def __init__(self, canvas: Canvas, theme: Theme, focused: str | None) -> None:
        self.canvas = canvas
        self.theme = theme
        self.focused = focused  # the key of the focused text field
        self.background: Color | None = theme.page
        self.window = "app"
        self.inert = False  # draw only: below a dialog
        self.elements: list[Element] = []
        self.touches: list[Touch] = []
        self.on_submit: Handler | None = None

    # What stands on the screen -----------------------------------------------------------------

    def element(
        self,
        role: str,
        text: str,
        rect: tuple[int, int, int, int],
        *,
        detail: str = "",
        value: str = "",
        on_tap: Handler | None = None,
        on_hold: Handler | None = None,
        on_drag: Callable[[Drag], bool] | None = None,
        on_tap_at: Callable[[int], None] | None = None,
        scrollable: bool = False,
        checked: bool | None = None,
        selected: bool = False,
        focused: bool = False,
        enabled: bool = True,
    ) -> None:
        """Register an element at rect = (x, y, width, height), cut to the canvas's clip."""
        if self.inert:
            return
        x, y, width, height = rect
        left, top, right, bottom = self.canvas.clip
        x0, y0 = (x if x > left else left), (y if y > top else top)
        x1 = x + width if x + width < right else right
        y1 = y + height if y + height < bottom else bottom
        if x0 >= x1 or y0 >= y1:
            return
        bounds = (x0, y0, x1, y1)
        clickable = enabled and (on_tap is not None or on_tap_at is not None)
        self.elements.append(
            Element(
                role, text, bounds, detail, value, self.window, clickable,
                on_hold is not None, scrollable, checked, selected, focused, enabled,
            )
        )  # fmt: skip
        if enabled and (clickable or on_hold or on_drag):
            self.touches.append(Touch(bounds, on_tap, on_hold, on_drag, on_tap_at))

    def open_window(self, name: str, *, alone: bool) -> None:
        """Start a window on top. `alone`: what is below can be neither read nor touched."""
        self.window = name
        if alone:
            self.elements.clear()
            self.touches.clear()
            self.on_submit = None

    def touch_at(self, x: int, y: int) -> list[Touch]:
        """The regions under a point, topmost first."""
        return [
            touch
            for touch in reversed(self.touches)
            if touch.bounds[0] <= x < touch.bounds[2] and touch.bounds[1] <= y < touch.bounds[3]
        ]

    # Drawing on the current background ---------------------------------------------------------

    def text(self, x: int, y: int, text: str, of: Face, color: Color | None = None) -> None:
        self.canvas.text(x, y, text, of, color or self.theme.text, self.background)

    def centred_text(
        self, rect: tuple[int, int, int, int], text: str, of: Face, color: Color | None = None
    ) -> None:
        x, y, width, height = rect
        shown = shorten(text, of, width)
        left = x + (width - text_width(shown, of)) // 2
        self.text(left, y + (height - of.line_height) // 2, shown, of, color)

    def icon(self, x: int, y: int, name: str, size: int, color: Color | None = None) -> None:
        self.canvas.icon(x, y, name, size, color or self.theme.text, self.background)

    def fill(self, x: int, y: int, width: int, height: int, color: Color) -> None:
        self.canvas.fill(x, y, width, height, color)

    def rounded(self, x: int, y: int, width: int, height: int, radius: int, color: Color) -> None:
        self.canvas.rounded((x, y, width, height), radius, color, self.background)
