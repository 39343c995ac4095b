"""Security & privacy, and Location: who gets in, and who learns where the phone is."""

from __future__ import annotations

from phonesim.app import Ui, Window
from phonesim.apps.settings_pages.catalogue import CHOICES, LOCKS
from phonesim.apps.settings_pages.rows import change, switch_row, switch_rows
from phonesim.scene import Handler
from phonesim.system import InstalledApp
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading
from phonesim.toolkit.tile_rows import TileRow
from phonesim.toolkit.widget import Widget

LEAST_DIGITS = 4


def security(ui: Ui) -> Window:
    label = CHOICES["screen_lock"].label
    lock = ListRow(label, ui.settings.screen_lock, icon="lock", on_tap=lambda: ui.go("screen_lock"))
    switches = switch_rows(ui, "show_passwords", "find_my_phone", "usage_reports")
    return ui.page("Security & privacy", [lock, *switches])


def screen_lock(ui: Ui) -> Window:
    choices = {lock: _locking(ui, lock) for lock in LOCKS}
    return ui.sheet("Screen lock", choices, chosen=ui.settings.screen_lock)


def _locking(ui: Ui, lock: str) -> Handler:
    if lock == "PIN":
        return lambda: ui.go("new_pin")
    return lambda: change(ui, screen_lock=lock, screen_pin="")


def new_pin(ui: Ui) -> Window:
    def save() -> None:
        pin = ui.text("pin").strip()
        if len(pin) < LEAST_DIGITS or not pin.isdecimal():
            ui.say(f"A PIN has at least {LEAST_DIGITS} digits")
            ui.go("new_pin", pin=pin)
        else:
            change(ui, screen_lock="PIN", screen_pin=pin)
            ui.say("PIN set")

    field = ui.field("pin", "New PIN", secret=not ui.settings.show_passwords)
    return ui.dialog("Choose a PIN", [field], {"Cancel": None, "Save": save})


def location(ui: Ui) -> Window:
    allowed = ui.facts.where(InstalledApp, lambda app: app.location)
    rows: list[Widget] = [
        *(switch_row(ui, name) for name in ("location", "location_accuracy")),
        Heading("Apps that may use it"),
        *(_app_row(ui, app.name) for app in allowed),
    ]
    if not allowed:
        rows.append(Empty("No app may use the location", "location"))
    return ui.page("Location", rows)


def _app_row(ui: Ui, name: str) -> TileRow:
    app = ui.apps[name]
    return TileRow(
        name,
        icon=app.icon,
        color=app.color,
        corner=10,
        on_tap=lambda: ui.go("app_info", name),
    )
