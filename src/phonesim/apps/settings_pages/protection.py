"""Security & privacy, and Location: the screen lock, and the apps that may use the location."""

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
    label, kept = ui.tr(CHOICES["screen_lock"].label), ui.tr(ui.settings.screen_lock)
    lock = ListRow(label, kept, icon="lock", on_tap=lambda: ui.go("screen_lock"))
    switches = switch_rows(ui, "show_passwords", "find_my_phone", "usage_reports")
    return ui.page(ui.tr("Security & privacy"), [lock, *switches])


def screen_lock(ui: Ui) -> Window:
    choices = {ui.tr(lock): _locking(ui, lock) for lock in LOCKS}
    return ui.sheet(ui.tr("Screen lock"), choices, chosen=ui.tr(ui.settings.screen_lock))


def _locking(ui: Ui, lock: str) -> Handler:
    if lock == "PIN":
        return lambda: ui.go("new_pin")
    return lambda: change(ui, screen_lock=lock, screen_pin="")


def new_pin(ui: Ui) -> Window:
    def save() -> None:
        pin = ui.text("pin").strip()
        if len(pin) < LEAST_DIGITS or not pin.isdecimal():
            ui.say(ui.tr("A PIN has at least {count} digits", count=LEAST_DIGITS))
            ui.go("new_pin", pin=pin)
        else:
            change(ui, screen_lock="PIN", screen_pin=pin)
            ui.say(ui.tr("PIN set"))

    field = ui.field("pin", ui.tr("New PIN"), secret=not ui.settings.show_passwords)
    buttons = {ui.tr("Cancel"): None, ui.tr("Save"): save}
    return ui.dialog(ui.tr("Choose a PIN"), [field], buttons)


def location(ui: Ui) -> Window:
    allowed = ui.facts.where(InstalledApp, lambda app: app.location)
    rows: list[Widget] = [
        *(switch_row(ui, name) for name in ("location", "location_accuracy")),
        Heading(ui.tr("Apps that may use it")),
        *(_app_row(ui, app.name) for app in allowed),
    ]
    if not allowed:
        rows.append(Empty(ui.tr("No app may use the location"), "location"))
    return ui.page(ui.tr("Location"), rows)


def _app_row(ui: Ui, name: str) -> TileRow:
    app = ui.apps[name]
    return TileRow(
        ui.tr(name),
        icon=app.icon,
        color=app.color,
        corner=10,
        on_tap=lambda: ui.go("app_info", name),
    )
