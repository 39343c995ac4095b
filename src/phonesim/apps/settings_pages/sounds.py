"""Sound & vibration: volumes, tones, and which events make a sound."""

from __future__ import annotations

from collections.abc import Callable

from phonesim.app import Ui, Window
from phonesim.apps.settings_pages.catalogue import VOLUMES
from phonesim.apps.settings_pages.rows import change, choice_row, switch_rows
from phonesim.toolkit.boxes import Pad
from phonesim.toolkit.controls import Slider
from phonesim.toolkit.texts import Heading
from phonesim.toolkit.widget import Widget


def sound(ui: Ui) -> Window:
    sliders: list[Widget] = [_volume(ui, setting, label) for setting, label in VOLUMES.items()]
    tones = [choice_row(ui, name) for name in ("ringtone", "notification_sound", "alarm_sound")]
    switches = switch_rows(
        ui, "vibrate_on_ring", "touch_sounds", "touch_vibration", "charging_sounds"
    )
    heads: tuple[Widget, Widget, Widget] = (
        Heading(ui.tr("Volume")),
        Heading(ui.tr("Tones")),
        Heading(ui.tr("More")),
    )
    parts = [[heads[0], *sliders], [heads[1], *tones], [heads[2], *switches]]
    if ui.version == 2:
        parts[0], parts[1] = parts[1], parts[0]
    return ui.page(ui.tr("Sound & vibration"), [widget for part in parts for widget in part])


def _volume(ui: Ui, setting: str, label: str) -> Widget:
    slider = Slider(ui.tr(label), float(getattr(ui.settings, setting)), _setting(ui, setting))
    return Pad(slider, top=4, bottom=0)


def _setting(ui: Ui, setting: str) -> Callable[[float], None]:
    return lambda share: change(ui, **{setting: round(share, 2)})
