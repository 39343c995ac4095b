"""The permanent bars, status at the top and navigation at the bottom, and the snackbar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phonesim.dimensions import NAVIGATION, STATUS
from phonesim.drawing.colors import BLACK, WHITE
from phonesim.drawing.fonts import face, text_width, wrap
from phonesim.drift import navigation_reversed
from phonesim.scene import Scene
from phonesim.state import LAUNCHER
from phonesim.system import SystemSettings
from phonesim.toolkit.pages import FAB

if TYPE_CHECKING:
    from phonesim.phone import Phone

MAX_FOOT = 130  # pixels: controls fixed at the bottom of a page are at most this high
DARKENING = frozenset(("dialog", "popup"))  # windows that dim everything else


def clock_text(phone: Phone) -> str:
    return phone.language.time(phone.now, phone.facts.one(SystemSettings).use_24_hour)


def _over_picture(phone: Phone) -> bool:
    """Return whether the bars are transparent: on the home screen and in the overview."""
    if phone.state.overlay:
        return phone.state.overlay == "recents"
    return phone.state.front == LAUNCHER and len(phone.routes) == 1


def place_status(scene: Scene, phone: Phone) -> None:
    settings, theme, width = phone.facts.one(SystemSettings), scene.theme, scene.canvas.width
    over_picture = _over_picture(phone)
    ink = WHITE if over_picture else theme.text
    if not over_picture:
        scene.fill(0, 0, width, STATUS, theme.surface)
    scene.background = None if over_picture else theme.surface
    small = face(12, "medium")
    scene.text(14, 4, clock_text(phone), small, ink)
    percent = theme.language.percent(settings.battery_percent / 100)
    right = width - 14 - text_width(percent, small)
    scene.text(right, 4, percent, small, ink)
    shown = {
        "battery": True,
        "signal": not settings.airplane_mode and settings.mobile_data,
        "wifi": settings.wifi,
        "airplane": settings.airplane_mode,
        "bluetooth": settings.bluetooth,
        "moon": settings.do_not_disturb,
    }
    for name in (name for name, on in shown.items() if on):
        right -= 18
        scene.icon(right, 5, name, 14, ink)
    if scene.window in DARKENING and not phone.state.overlay:
        scene.canvas.dim(0, 0, width, STATUS)


def place_navigation(scene: Scene, phone: Phone) -> None:
    theme, tr, width = scene.theme, scene.theme.language.tr, scene.canvas.width
    top = scene.canvas.height - NAVIGATION
    over_picture = _over_picture(phone)
    ink = WHITE if over_picture else theme.muted
    scene.background = None
    if not over_picture:
        scene.fill(0, top, width, NAVIGATION, theme.surface)
        scene.background = theme.surface
    window, scene.window = scene.window, "system"
    buttons = [
        ("nav_back", tr("Back"), phone.back),
        ("nav_home", tr("Home"), phone.home),
        ("nav_recents", tr("Overview"), lambda: phone.show_overlay("recents")),
    ]
    if navigation_reversed(phone.state.seed, phone.state.drift):
        buttons.reverse()
    for index, (icon, label, act) in enumerate(buttons):
        left = index * width // 3
        scene.icon(left + width // 6 - 9, top + 11, icon, 18, ink)
        scene.element("button", label, (left + 20, top, width // 3 - 40, NAVIGATION), on_tap=act)
    scene.window = window


def _above_the_foot(scene: Scene, bottom: int, height: int) -> int:
    """Return the bottom edge for a snackbar: it may cover a list, but no button fixed below."""
    rooms = [e.bounds[3] for e in scene.elements if e.scrollable]
    scrolls = any(foot > bottom - MAX_FOOT for foot in rooms)
    floor = max(rooms) if scrolls else bottom
    for element in sorted(scene.elements, key=lambda e: -e.bounds[3]):
        left, top, right, foot = element.bounds
        if not element.clickable or foot <= floor - height or top >= floor:
            continue
        floating = (right - left, foot - top) == (FAB, FAB)
        fixed = not scrolls and top > bottom - MAX_FOOT
        if floating or (fixed and (element.role != "row" or foot == floor)):
            floor = top
    return floor


def place_message(scene: Scene, message: str, bottom: int) -> None:
    theme, width = scene.theme, scene.canvas.width
    lines = wrap(message, theme.small, width - 56, 2)
    height = len(lines) * theme.small.line_height + 20
    top = _above_the_foot(scene, bottom, height + 10) - height - 10
    fill, ink = ((230, 232, 236), BLACK) if theme.dark else ((50, 52, 58), WHITE)
    scene.background = None
    scene.rounded(12, top, width - 24, height, 8, fill)
    scene.background = fill
    for index, line in enumerate(lines):
        scene.text(28, top + 10 + index * theme.small.line_height, line, theme.small, ink)
    scene.element("text", message, (12, top, width - 24, height))
