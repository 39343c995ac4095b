"""The overview of recent apps: tap a card to return to the app, or clear them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distrl.devices.simulated.dimensions import HEIGHT, NAVIGATION, STATUS, WIDTH
from distrl.devices.simulated.scene import Handler, Scene
from distrl.devices.simulated.system_ui.launcher import draw_app_icon
from distrl.devices.simulated.toolkit.controls import Button

if TYPE_CHECKING:
    from distrl.devices.simulated.phone import Phone

CARD = 92
MOST = 5


def place(scene: Scene, phone: Phone) -> None:
    theme = scene.theme
    scene.open_window("recents", alone=True)
    bottom = HEIGHT - NAVIGATION
    scene.fill(0, STATUS, WIDTH, bottom - STATUS, theme.page)
    scene.background = theme.page
    shown = [name for name in phone.state.recent if name in phone.state.running][:MOST]
    if not shown:
        scene.centred_text((0, 300, WIDTH, 40), "No recent apps", theme.body, theme.muted)
        scene.element("text", "No recent apps", (0, 300, WIDTH, 40))
    for index, name in enumerate(shown):
        _place_card(scene, phone, name, STATUS + 16 + index * (CARD + 10))
    if shown:
        clear = Button("Clear all", lambda: _clear(phone), "soft")
        clear.place(scene, WIDTH // 2 - 60, bottom - 56, 120, 40)


def _place_card(scene: Scene, phone: Phone, name: str, top: int) -> None:
    theme, behind = scene.theme, scene.background
    scene.rounded(20, top, WIDTH - 40, CARD, 16, theme.surface)
    scene.background = theme.surface
    draw_app_icon(scene.canvas, 36, top + 20, phone.apps[name], theme.surface)
    scene.text(104, top + 34, name, theme.title)
    scene.background = behind
    scene.element("app", name, (20, top, WIDTH - 40, CARD), on_tap=_opening(phone, name))


def _opening(phone: Phone, name: str) -> Handler:
    return lambda: phone.launch(name)


def _clear(phone: Phone) -> None:
    for name in phone.state.recent:
        phone.stop(name)
    phone.home()
