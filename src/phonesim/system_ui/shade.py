"""The shade, pulled down from the top: quick settings, brightness and notifications."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from phonesim.dimensions import NAVIGATION, STATUS
from phonesim.drawing.fonts import face, shorten
from phonesim.scene import Drag, Handler, Scene, Touch
from phonesim.system import Notification, SystemSettings, switch
from phonesim.system_ui.heads_up import note_text
from phonesim.toolkit.controls import Button, IconButton, Slider
from phonesim.toolkit.surfaces import well_color
from phonesim.toolkit.tile_rows import TileRow

if TYPE_CHECKING:
    from phonesim.phone import Phone

TILES = (
    ("wifi", "wifi", "Wi-Fi"),
    ("bluetooth", "bluetooth", "Bluetooth"),
    ("mobile_data", "signal", "Mobile data"),
    ("airplane_mode", "airplane", "Airplane mode"),
    ("flashlight", "flashlight", "Flashlight"),
    ("do_not_disturb", "mute", "Do not disturb"),
    ("auto_rotate", "rotate", "Auto-rotate"),
    ("battery_saver", "battery", "Battery saver"),
    ("dark_mode", "moon", "Dark theme"),
    ("hotspot", "hotspot", "Hotspot"),
)
TALLEST = 50  # height of a tile
WIDE = 600  # layout units: from this width on, notifications are beside the tiles
Box = tuple[int, int, int, int]  # x, y, width, height


def place(scene: Scene, phone: Phone) -> None:
    theme, width, bottom = scene.theme, scene.canvas.width, scene.canvas.height - NAVIGATION
    navigation = [e for e in scene.elements if e.window == "system"]
    touches = [t for t in scene.touches if t.bounds[1] >= bottom]
    scene.open_window("shade", alone=True)
    scene.elements.extend(navigation)
    scene.touches.extend(touches)
    scene.fill(0, STATUS, width, bottom - STATUS, theme.page)
    scene.background = theme.page
    scene.touches.append(Touch((0, 0, width, bottom), on_drag=_closing(phone)))
    language = theme.language
    day = language.date(phone.now, "medium")
    scene.text(16, 48 - theme.body.line_height // 2, day, theme.body)
    gear = IconButton("settings", language.tr("Open settings"), lambda: phone.launch("Settings"))
    gear.place(scene, width - 48, 28, 40, 40)
    half = width // 2 if width >= WIDE else width
    wide, high = (half - 32) // 2, min(TALLEST, (bottom - 74) // (len(TILES) // 2) - 8)
    for index, (setting, icon, label) in enumerate(TILES):
        left, top = 12 + index % 2 * (wide + 8), 74 + index // 2 * (high + 8)
        _place_tile(scene, phone, (left, top, wide, high), setting, icon, language.tr(label))
    brightness = phone.facts.one(SystemSettings).brightness
    slider = Slider(language.tr("Brightness"), brightness, _dimming(phone))
    left, top, room = (half, 74, width - half) if width >= WIDE else (0, 372, width)
    slider.place(scene, left + 20, top, room - 40, slider.size(theme, room - 40)[1])
    _place_notifications(scene, phone, (left, top + 58, room, bottom - top - 58))


def _dimming(phone: Phone) -> Callable[[float], None]:
    return lambda share: phone.facts.change(SystemSettings, brightness=round(share, 2))


def _closing(phone: Phone) -> Callable[[Drag], bool]:
    def dragged(drag: Drag) -> bool:
        if drag.vertical and drag.to_y < drag.y:
            phone.show_overlay(None)
        return True

    return dragged


def _toggling(phone: Phone, setting: str, on: bool) -> Handler:
    return lambda: switch(phone.facts, setting, not on)


def _place_tile(scene: Scene, phone: Phone, box: Box, setting: str, icon: str, label: str) -> None:
    theme, (x, y, wide, high), settings = scene.theme, box, phone.facts.one(SystemSettings)
    on = bool(getattr(settings, setting))
    tr = theme.language.tr
    state = tr("On") if on else tr("Off")
    if setting == "wifi" and on:
        state = settings.wifi_network or tr("Not connected")
    fill, ink = (theme.primary, theme.on_primary) if on else (well_color(scene), theme.text)
    scene.rounded(x, y, wide, high, 18, fill)
    scene.background = fill
    scene.icon(x + 14, y + (high - 20) // 2, icon, 20, ink)
    y += (high - TALLEST) // 2
    small = face(11)
    name = face(13, "medium")
    scene.text(x + 44, y + 8, shorten(label, name, wide - 50), name, ink)
    scene.text(x + 44, y + 27, shorten(state, small, wide - 54), small, ink)
    scene.background = theme.page
    scene.element("switch", label, box, on_tap=_toggling(phone, setting, on), checked=on)


def _place_notifications(scene: Scene, phone: Phone, box: Box) -> None:
    left, top, width, height = box
    bottom = top + height
    notes, theme = phone.facts.all(Notification), scene.theme
    tr = theme.language.tr
    if not notes:
        nothing = (left, top + 20, width, 30)
        scene.centred_text(nothing, tr("No notifications"), theme.small, theme.muted)
        return
    middle = top + (36 - theme.strong.line_height) // 2
    scene.text(left + 20, middle, tr("Notifications"), theme.strong, theme.muted)
    clear = Button(tr("Clear all"), lambda: _clear(phone), "plain", high=36)
    wide = clear.size(theme, width)[0]
    clear.place(scene, left + width - wide - 4, top, wide, 36)
    top += 38
    for note in reversed(notes):
        row = _note_row(phone, note)
        height = row.size(theme, width)[1]
        if top + height > bottom:
            return
        row.place(scene, left, top, width, height)
        top += height


def _note_row(phone: Phone, note: Notification) -> TileRow:
    app, act = phone.apps[note.app], _opening(phone, note.app)
    return TileRow(
        phone.language.tr(note.title),
        note_text(phone.language, note),
        on_tap=act,
        icon=app.icon,
        color=app.color,
        detail_lines=1,
    )


def _clear(phone: Phone) -> None:
    phone.facts.remove_where(Notification, lambda _: True)


def _opening(phone: Phone, name: str) -> Handler:
    return lambda: phone.launch(name)
