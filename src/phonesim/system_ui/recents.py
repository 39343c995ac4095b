"""The overview of recent apps: cards that show the page an app was left on, over the wallpaper.

A card renders the top of that page itself, in the card's width, so no screenshots are kept, and
nothing below the card's edge is laid out. Tap a card to return to the app, or clear them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phonesim.app import Ui, Window
from phonesim.dimensions import NAVIGATION, STATUS
from phonesim.drawing.canvas import corner_masks
from phonesim.drawing.colors import WHITE
from phonesim.facts import MissingFact
from phonesim.scene import Handler, Scene
from phonesim.system import SystemSettings
from phonesim.toolkit.controls import Button
from phonesim.toolkit.modals import Modal
from phonesim.toolkit.pages import BAR, Page

if TYPE_CHECKING:
    from phonesim.phone import Phone

MOST = 5
SIDE, GAP = 24, 10  # margin beside the cards, gap between them
LOWEST, TALLEST = 110, 400  # lowest and greatest height of a card
HEAD = 38  # height of a card's head: icon and name
CORNER = 18
ICON = 26


def place(scene: Scene, phone: Phone) -> None:
    tr, width, height = scene.theme.language.tr, scene.canvas.width, scene.canvas.height
    scene.open_window("recents", alone=True)
    _place_backdrop(scene, phone)
    foot = height - NAVIGATION - 64
    room = foot - STATUS - 16
    most = max(1, min(MOST, room // LOWEST))
    shown = [name for name in phone.state.recent if name in phone.state.running][:most]
    if not shown:
        nothing = tr("No recent apps")
        middle = (0, height // 2 - 60, width, 40)
        scene.centred_text(middle, nothing, scene.theme.body, WHITE)
        scene.element("text", nothing, middle)
        return
    high = min(TALLEST, (room - GAP * (len(shown) - 1)) // len(shown))
    used = len(shown) * high + (len(shown) - 1) * GAP
    top = STATUS + 16 + (room - used) // 2
    for index, name in enumerate(shown):
        _place_card(scene, phone, name, (SIDE, top + index * (high + GAP), width - 2 * SIDE, high))
    clear = Button(tr("Clear all"), lambda: _clear(phone), "soft")
    wide = max(120, clear.size(scene.theme, width)[0])
    scene.background = None
    clear.place(scene, (width - wide) // 2, foot + 10, wide, 40)


def _place_backdrop(scene: Scene, phone: Phone) -> None:
    wallpaper = phone.facts.one(SystemSettings).wallpaper
    width, height = scene.canvas.width, scene.canvas.height
    scene.canvas.picture(0, 0, f"wallpaper:{wallpaper}", width, height)
    scene.canvas.dim(0, 0, width, height)
    scene.background = None


def _place_card(scene: Scene, phone: Phone, name: str, rect: tuple[int, int, int, int]) -> None:
    theme, app = scene.theme, phone.apps[name]
    x, y, width, height = rect
    scene.background = None
    scene.rounded(x, y, width, height, CORNER, theme.surface)
    scene.background = theme.surface
    scene.rounded(x + 14, y + 6, ICON, ICON, 8, app.color)
    scene.canvas.icon(x + 19, y + 11, app.icon, ICON - 10, WHITE, app.color)
    label = theme.language.tr(name)
    scene.text(x + 50, y + (HEAD - theme.strong.line_height) // 2, label, theme.strong)
    _place_preview(scene, phone, name, (x, y + HEAD, width, height - HEAD))
    scene.element("app", label, rect, on_tap=_opening(phone, name))


def _place_preview(scene: Scene, phone: Phone, name: str, rect: tuple[int, int, int, int]) -> None:
    """Draw the page as it was left, without elements to touch, clipped to the rounded card."""
    x, y, width, height = rect
    window, canvas = _page_of(scene, phone, name), scene.canvas
    if window is None:
        return
    times, wide = canvas.density, CORNER * canvas.density
    foot = canvas.pixels[: (y + height) * times][-wide:, x * times : (x + width) * times]
    below = foot.copy()
    whole, theme, focused = canvas.clip, scene.theme, scene.focused
    canvas.clip, scene.inert, scene.focused = (x, y, x + width, y + height), True, None
    hidden = BAR if isinstance(window, Page) else 0  # the card's head already shows the name
    window.place(scene, x, y - hidden, width, canvas.height - NAVIGATION - STATUS)
    canvas.clip, scene.inert, scene.focused = whole, False, focused
    scene.theme = theme
    for mask, left in zip(corner_masks(wide)[2:], (0, width * times - wide), strict=True):
        at = foot[:, left : left + wide]
        inside = mask[..., None].astype(np.uint16)
        at[:] = (at * inside + below[:, left : left + wide] * (255 - inside) + 127) // 255


def _page_of(scene: Scene, phone: Phone, name: str) -> Window | None:
    """Return the topmost full page that an app has open; None if its subject was deleted."""
    app, routes = phone.apps[name], phone.state.running[name]
    for route in reversed(routes):
        try:
            window: Window = getattr(app, route.page)(
                Ui(phone, app, route, scene.theme), *route.args
            )
        except MissingFact:
            return None
        if isinstance(window, Page) and route is routes[0]:
            window.on_up = None
        if not isinstance(window, Modal):
            return window
    return None


def _opening(phone: Phone, name: str) -> Handler:
    return lambda: phone.launch(name)


def _clear(phone: Phone) -> None:
    for name in phone.state.recent:
        phone.stop(name)
    phone.home()
