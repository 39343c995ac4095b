"""The shade that is pulled down from the top: quick settings, brightness and notifications."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from distrl.devices.simulated.drawing.fonts import face
from distrl.devices.simulated.scene import Drag, Handler, Scene, Touch
from distrl.devices.simulated.system import Notification, SystemSettings
from distrl.devices.simulated.system_ui.bars import NAVIGATION, STATUS
from distrl.devices.simulated.toolkit.controls import IconButton, Slider
from distrl.devices.simulated.toolkit.rows import ListRow

if TYPE_CHECKING:
    from distrl.devices.simulated.phone import Phone

WIDTH, HEIGHT = 360, 720
TILES = (
    ("wifi", "wifi", "Wi-Fi"),
    ("bluetooth", "bluetooth", "Bluetooth"),
    ("mobile_data", "signal", "Mobile data"),
    ("airplane_mode", "airplane", "Airplane mode"),
    ("flashlight", "flashlight", "Flashlight"),
    ("do_not_disturb", "moon", "Do not disturb"),
    ("auto_rotate", "rotate", "Auto-rotate"),
    ("battery_saver", "battery", "Battery saver"),
)


def place(scene: Scene, phone: Phone) -> None:
    theme, bottom = scene.theme, HEIGHT - NAVIGATION
    navigation = [e for e in scene.elements if e.window == "system"]
    touches = [t for t in scene.touches if t.bounds[1] >= bottom]
    scene.open_window("shade", alone=True)
    scene.elements.extend(navigation)
    scene.touches.extend(touches)
    scene.fill(0, STATUS, WIDTH, bottom - STATUS, theme.page)
    scene.background = theme.page
    scene.touches.append(Touch((0, 0, WIDTH, bottom), on_drag=_closing(phone)))
    scene.text(16, 36, f"{phone.now:%a}, {phone.now.day} {phone.now:%b}", theme.body)
    gear = IconButton("settings", "Open settings", lambda: phone.launch("Settings"))
    gear.place(scene, WIDTH - 48, 28, 40, 40)
    for index, (setting, icon, label) in enumerate(TILES):
        left, top = 12 + index % 2 * 170, 76 + index // 2 * 60
        _place_tile(scene, phone, (left, top), setting, icon, label)
    brightness = phone.facts.one(SystemSettings).brightness
    slider = Slider("Brightness", brightness, lambda share: _change(phone, brightness=share))
    slider.place(scene, 20, 322, WIDTH - 40, slider.size(theme, WIDTH - 40)[1])
    _place_notifications(scene, phone, 384, bottom)


def _change(phone: Phone, **fields: object) -> None:
    phone.facts.change(SystemSettings, **fields)


def _closing(phone: Phone) -> Callable[[Drag], bool]:
    def dragged(drag: Drag) -> bool:
        if drag.vertical and drag.to_y < drag.y:
            phone.show_overlay(None)
        return True

    return dragged


def _toggling(phone: Phone, setting: str, on: bool) -> Handler:
    return lambda: _change(phone, **{setting: not on})


def _place_tile(
    scene: Scene, phone: Phone, at: tuple[int, int], setting: str, icon: str, label: str
) -> None:
    theme, (x, y) = scene.theme, at
    on = bool(getattr(phone.facts.one(SystemSettings), setting))
    fill, ink = (theme.primary, theme.on_primary) if on else (theme.field, theme.text)
    scene.background = theme.page
    scene.rounded(x, y, 164, 52, 26, fill)
    scene.background = fill
    scene.icon(x + 16, y + 16, icon, 20, ink)
    scene.text(x + 46, y + 17, label, face(13, "medium"), ink)
    scene.background = theme.page
    scene.element(
        "switch", label, (x, y, 164, 52), on_tap=_toggling(phone, setting, on), checked=on
    )


def _place_notifications(scene: Scene, phone: Phone, top: int, bottom: int) -> None:
    notes = phone.facts.all(Notification)
    if not notes:
        scene.centred_text((0, top + 20, WIDTH, 30), "No notifications", scene.theme.small)
    for note in reversed(notes):
        row = ListRow(note.title, note.text, on_tap=_opening(phone, note.app), avatar=note.app)
        height = row.size(scene.theme, WIDTH)[1]
        if top + height > bottom:
            return
        row.place(scene, 0, top, WIDTH, height)
        top += height


def _opening(phone: Phone, name: str) -> Handler:
    return lambda: phone.launch(name)
