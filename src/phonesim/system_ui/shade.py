"""The shade that is pulled down from the top: quick settings, brightness and notifications."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from phonesim.dimensions import HEIGHT, NAVIGATION, STATUS, WIDTH
from phonesim.drawing.fonts import face, shorten
from phonesim.scene import Drag, Handler, Scene, Touch
from phonesim.system import Notification, SystemSettings, switch
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
TILE = (164, 50)  # width, height


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
    language = theme.language
    day = language.date(phone.now, "medium")
    scene.text(16, 48 - theme.body.line_height // 2, day, theme.body)
    gear = IconButton("settings", language.tr("Open settings"), lambda: phone.launch("Settings"))
    gear.place(scene, WIDTH - 48, 28, 40, 40)
    for index, (setting, icon, label) in enumerate(TILES):
        left, top = 12 + index % 2 * (TILE[0] + 8), 74 + index // 2 * (TILE[1] + 8)
        _place_tile(scene, phone, (left, top), setting, icon, language.tr(label))
    brightness = phone.facts.one(SystemSettings).brightness
    slider = Slider(language.tr("Brightness"), brightness, _dimming(phone))
    slider.place(scene, 20, 372, WIDTH - 40, slider.size(theme, WIDTH - 40)[1])
    _place_notifications(scene, phone, 430, bottom)


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


def _place_tile(
    scene: Scene, phone: Phone, at: tuple[int, int], setting: str, icon: str, label: str
) -> None:
    theme, (x, y), settings = scene.theme, at, phone.facts.one(SystemSettings)
    on = bool(getattr(settings, setting))
    tr = theme.language.tr
    state = tr("On") if on else tr("Off")
    if setting == "wifi" and on:
        state = settings.wifi_network or tr("Not connected")
    fill, ink = (theme.primary, theme.on_primary) if on else (well_color(scene), theme.text)
    scene.rounded(x, y, *TILE, 18, fill)
    scene.background = fill
    scene.icon(x + 14, y + 15, icon, 20, ink)
    small = face(11)
    name = face(13, "medium")
    scene.text(x + 44, y + 8, shorten(label, name, TILE[0] - 50), name, ink)
    scene.text(x + 44, y + 27, shorten(state, small, TILE[0] - 54), small, ink)
    scene.background = theme.page
    scene.element("switch", label, (x, y, *TILE), on_tap=_toggling(phone, setting, on), checked=on)


def _place_notifications(scene: Scene, phone: Phone, top: int, bottom: int) -> None:
    notes, theme = phone.facts.all(Notification), scene.theme
    tr = theme.language.tr
    if not notes:
        nothing = (0, top + 20, WIDTH, 30)
        scene.centred_text(nothing, tr("No notifications"), theme.small, theme.muted)
        return
    middle = top + (36 - theme.strong.line_height) // 2
    scene.text(20, middle, tr("Notifications"), theme.strong, theme.muted)
    clear = Button(tr("Clear all"), lambda: _clear(phone), "plain", high=36)
    wide = clear.size(theme, WIDTH)[0]
    clear.place(scene, WIDTH - wide - 4, top, wide, 36)
    top += 38
    for note in reversed(notes):
        row = _note_row(phone, note)
        height = row.size(theme, WIDTH)[1]
        if top + height > bottom:
            return
        row.place(scene, 0, top, WIDTH, height)
        top += height


def _note_row(phone: Phone, note: Notification) -> TileRow:
    app, act = phone.apps[note.app], _opening(phone, note.app)
    return TileRow(
        note.title, note.text, on_tap=act, icon=app.icon, color=app.color, detail_lines=1
    )


def _clear(phone: Phone) -> None:
    phone.facts.remove_where(Notification, lambda _: True)


def _opening(phone: Phone, name: str) -> Handler:
    return lambda: phone.launch(name)
