"""System and About phone: language, time, keyboard, and the phone's identity."""

from __future__ import annotations

from dataclasses import dataclass

from phonesim.app import Ui, Window
from phonesim.apps.settings_pages.installed_apps import by_battery
from phonesim.apps.settings_pages.rows import (
    change,
    choice_row,
    page_row,
    switch_row,
    switch_rows,
)
from phonesim.toolkit.boxes import Column, Pad
from phonesim.toolkit.rows import ListRow
from phonesim.toolkit.texts import Heading, Progress, Text
from phonesim.toolkit.widget import Widget

TAPS_TO_DEVELOP = 7  # taps on the build number that enable developer options


@dataclass(frozen=True, slots=True)
class DeviceIdentity:
    """What the manufacturer and the network assigned to this phone; not changeable."""

    id: int = 0
    model: str = ""
    system_version: str = ""
    build_number: str = ""
    serial_number: str = ""
    phone_number: str = ""
    network_operator: str = ""
    wifi_address: str = ""


def battery(ui: Ui) -> Window:
    percent = ui.settings.battery_percent
    level = Column(
        [
            Text(ui.language.percent(percent / 100), "headline"),
            Text(ui.tr("About {hours} hours left", hours=percent // 4), "small", "muted"),
            Progress(percent / 100, ui.tr("Battery level")),
        ],
        gap=6,
    )
    rows: list[Widget] = [
        Pad(level, top=14),
        *switch_rows(ui, "battery_saver", "adaptive_battery"),
        Heading(ui.tr("Since the last charge")),
        *by_battery(ui),
    ]
    return ui.page(ui.tr("Battery"), rows)


def system(ui: Ui) -> Window:
    rows: list[Widget] = [
        choice_row(ui, "language"),
        page_row(ui, "date_time", ui.tr("Time zone, 24-hour format")),
        page_row(ui, "keyboard", ui.tr("Autocorrect, suggestions, sounds")),
    ]
    if ui.settings.developer_options:
        rows.append(page_row(ui, "developer"))
    return ui.page(ui.tr("System"), rows)


def date_time(ui: Ui) -> Window:
    settings = ui.settings
    zone: Widget = choice_row(ui, "timezone")
    if settings.automatic_time:
        city = ui.tr("{city}, set automatically", city=settings.timezone)
        zone = ListRow(ui.tr("Time zone"), city)
    rows = [*switch_rows(ui, "automatic_time", "use_24_hour"), zone]
    return ui.page(ui.tr("Date & time"), rows)


def keyboard(ui: Ui) -> Window:
    names = ("autocorrect", "suggestions", "auto_capitals", "keyboard_sounds")
    return ui.page(ui.tr("Keyboard"), switch_rows(ui, *names))


def developer(ui: Ui) -> Window:
    return ui.page(ui.tr("Developer options"), switch_rows(ui, "usb_debugging", "stay_awake"))


def notifications(ui: Ui) -> Window:
    names = (
        "do_not_disturb", "notification_dots", "lock_screen_notifications", "notification_history",
    )  # fmt: skip
    return ui.page(ui.tr("Notifications"), switch_rows(ui, *names))


def accessibility(ui: Ui) -> Window:
    rows: list[Widget] = [
        Heading(ui.tr("Seeing")),
        *switch_rows(ui, "screen_reader", "magnification"),
        choice_row(ui, "font_scale"),
        *switch_rows(ui, "high_contrast_text", "color_inversion"),
        Heading(ui.tr("Hearing")),
        switch_row(ui, "mono_audio"),
        switch_row(ui, "live_captions"),
    ]
    return ui.page(ui.tr("Accessibility"), rows)


def about(ui: Ui) -> Window:
    identity, name, tr = ui.facts.one(DeviceIdentity), ui.settings.device_name, ui.tr
    rows: list[Widget] = [
        ListRow(tr("Device name"), name, icon="edit", on_tap=lambda: ui.go("rename", name=name)),
        ListRow(tr("Phone number"), identity.phone_number, icon="phone"),
        ListRow(tr("Network operator"), identity.network_operator, icon="signal"),
        Heading(tr("Device")),
        ListRow(tr("Model"), identity.model),
        ListRow(tr("Serial number"), identity.serial_number),
        ListRow(tr("Wi-Fi address"), identity.wifi_address),
        Heading(tr("Software")),
        ListRow(tr("System version"), identity.system_version),
        ListRow(tr("Build number"), identity.build_number, on_tap=lambda: _tap_build(ui)),
    ]
    return ui.page(tr("About phone"), rows)


def _tap_build(ui: Ui) -> None:
    taps = int(ui.get("taps", 0)) + 1
    ui.set("taps", taps)
    if ui.settings.developer_options:
        ui.say(ui.tr("You are a developer already"))
    elif taps >= TAPS_TO_DEVELOP:
        change(ui, developer_options=True)
        ui.say(ui.tr("You are a developer now"))
    elif taps >= TAPS_TO_DEVELOP - 4:
        left = TAPS_TO_DEVELOP - taps
        ui.say(ui.tr("{count} more taps and you are a developer", count=left))


def rename(ui: Ui) -> Window:
    def save() -> None:
        name = ui.text("name").strip()
        if name:
            change(ui, device_name=name)
            ui.say(ui.tr("This phone is now called {name}", name=name))

    buttons = {ui.tr("Cancel"): None, ui.tr("Save"): save}
    return ui.dialog(ui.tr("Device name"), [ui.field("name", ui.tr("Name"))], buttons)
