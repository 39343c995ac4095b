"""Compose the screen of a phone from its layers: pages, dialogs, keyboard, pop-ups, bars, shade.

The drawing order is also the z-order of touches: what is drawn later is touched first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phonesim.app import Ui, Window
from phonesim.apps import APPS
from phonesim.dimensions import KEYBOARD, NAVIGATION, STATUS
from phonesim.drawing.canvas import Canvas
from phonesim.drawing.colors import BLACK
from phonesim.drawing.theme import Theme, theme
from phonesim.drift import VARIANTS, layout_variant
from phonesim.facts import MissingFact
from phonesim.scene import Scene
from phonesim.state import LAUNCHER
from phonesim.system import InstalledApp, SystemSettings
from phonesim.system_ui import bars, heads_up, keyboard, popups, recents, ringing, shade
from phonesim.system_ui.launcher import Launcher
from phonesim.toolkit.modals import Modal

if TYPE_CHECKING:
    from phonesim.phone import Phone

LAUNCHER_APP = Launcher()


def compose(phone: Phone, canvas: Canvas) -> Scene:
    """Draw the phone as it is now; return the scene with all that can be read and touched."""
    state = phone.state
    scene = Scene(canvas, theme_of(phone), state.focus)
    width, height = canvas.width, canvas.height
    if state.asleep:
        canvas.clip = (0, 0, width, height)
        canvas.fill(0, 0, width, height, BLACK)
        return scene
    top, bottom = STATUS, height - NAVIGATION
    if state.front == LAUNCHER and len(phone.routes) == 1:
        top, bottom = 0, height  # the wallpaper lies below both bars
    if state.focus:
        bottom = height - NAVIGATION - KEYBOARD
    canvas.clip = (0, top, width, bottom)
    _place_windows(scene, phone, top, bottom)
    canvas.clip = (0, 0, width, height)
    if state.message:
        bars.place_message(scene, state.message, min(bottom, height - NAVIGATION))
    if state.focus:
        keyboard.place(scene, phone)
    if state.overlay == "recents":
        recents.place(scene, phone)
    if state.popup:
        canvas.clip = (0, 0, width, height - NAVIGATION)
        (ringing if ringing.rings(state.popup) else popups).place(scene, phone, state.popup)
        canvas.clip = (0, 0, width, height)
    bars.place_navigation(scene, phone)
    bars.place_status(scene, phone)
    if state.overlay == "shade":
        shade.place(scene, phone)
    elif state.heads_up:
        heads_up.place(scene, phone, state.heads_up)
    return scene


def theme_of(phone: Phone) -> Theme:
    """Return the theme of the app in front: the user's colours, and a layout by its version."""
    settings, front = phone.facts.one(SystemSettings), phone.state.front
    installed = phone.facts.find(InstalledApp, lambda app: app.name == front)
    variant = layout_variant(phone.state.seed, phone.state.drift)
    if phone.state.drift.layouts and installed:
        variant = (variant + installed.version) % VARIANTS
    return theme(
        settings.dark_mode, settings.accent, settings.font_scale, variant, settings.language
    )


def _place_windows(scene: Scene, phone: Phone, top: int, bottom: int) -> None:
    """Place the page in front; below a dialog, also its page, drawn but not touchable."""
    windows = _windows(phone, scene.theme)
    for window in reversed(windows):
        scene.inert = window is not windows[0]
        window.place(scene, 0, top, scene.canvas.width, bottom - top)


def _windows(phone: Phone, of: Theme) -> list[Window]:
    """List the windows, topmost first. A page about a fact that is gone is closed."""
    while True:
        app = LAUNCHER_APP if phone.state.front == LAUNCHER else APPS[phone.state.front]
        windows: list[Window] = []
        try:
            for route in reversed(phone.routes):
                ui = Ui(phone, app, route, of)
                cut_off = route.page in app.network_pages and ui.offline
                window: Window = (
                    ui.offline_page() if cut_off else getattr(app, route.page)(ui, *route.args)
                )
                windows.append(window)
                if not isinstance(window, Modal):
                    return windows
        except MissingFact:
            phone.pop()
