"""Apps: installed apps with their permissions, and how to stop or remove them."""

from __future__ import annotations

from phonesim.app import Ui, Window
from phonesim.facts import MissingFact
from phonesim.system import InstalledApp
from phonesim.toolkit.boxes import Pad, Row
from phonesim.toolkit.controls import Button
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading
from phonesim.toolkit.tile_rows import TileRow
from phonesim.toolkit.widget import Widget

PERMISSIONS = {  # field of InstalledApp: label, icon
    "camera": ("Camera", "camera"),
    "contacts": ("Contacts", "users"),
    "location": ("Location", "location"),
    "microphone": ("Microphone", "microphone"),
}


def app_list(ui: Ui) -> Window:
    query = ui.text("query").casefold()
    found = ui.facts.where(InstalledApp, lambda app: query in ui.tr(app.name).casefold())
    rows: list[Widget] = []
    for title, removable in (("Installed by you", True), ("Came with the phone", False)):
        group = [app for app in found if ui.apps[app.name].removable is removable]
        if group:
            rows.append(Heading(ui.tr(title)))
            rows += [_app_row(ui, app) for app in sorted(group, key=lambda app: ui.tr(app.name))]
    search = ui.field("query", ui.tr("Search apps"), icon="search")
    return ui.page(
        ui.tr("Apps"),
        rows or [Empty(ui.tr("No app of that name"), "apps")],
        head=Pad(search, sides=12, top=4, bottom=4),
    )


def _app_row(ui: Ui, installed: InstalledApp) -> TileRow:
    app = ui.apps[installed.name]
    return TileRow(
        ui.tr(app.name),
        "" if installed.notifications else ui.tr("Notifications off"),
        icon=app.icon,
        color=app.color,
        corner=10,
        on_tap=lambda: ui.go("app_info", app.name),
    )


def app_info(ui: Ui, name: str) -> Window:
    """The page about one app; the launcher opens it, too."""
    installed = ui.facts.find(InstalledApp, lambda app: app.name == name)
    if installed is None:
        raise MissingFact(f"{name} is not installed")
    app = ui.apps[name]
    version = ui.tr("Version {number}", number=installed.version)
    head = TileRow(ui.tr(name), version, icon=app.icon, color=app.color, corner=10)
    rows: list[Widget] = [head, Pad(Row(_buttons(ui, name), align="spread"))]
    rows.append(_field_row(ui, installed, "notifications", ui.tr("Notifications"), "message"))
    rows.append(Heading(ui.tr("Permissions")))
    rows += [
        _field_row(ui, installed, field, ui.tr(label), icon)
        for field, (label, icon) in PERMISSIONS.items()
    ]
    share = ui.language.percent(installed.battery_share / 100)
    used = ui.tr("{share} since the last charge", share=share)
    rows += [
        Heading(ui.tr("Use")),
        ListRow(ui.tr("Storage"), f"{installed.storage_megabytes} MB", icon="storage"),
        ListRow(ui.tr("Battery"), used, icon="battery"),
    ]
    return ui.page(ui.tr("App info"), rows)


def _field_row(ui: Ui, app: InstalledApp, field: str, label: str, icon: str) -> ListRow:
    on = bool(getattr(app, field))
    return ListRow(
        label, icon=icon, switch=on, on_tap=lambda: ui.facts.edit(app, **{field: not on})
    )


def _buttons(ui: Ui, name: str) -> list[Button]:
    buttons = [
        Button(ui.tr("Open"), lambda: ui.launch(name), "soft"),
        Button(ui.tr("Force stop"), lambda: ui.go("confirm_stop", name), "soft"),
    ]
    if ui.apps[name].removable:
        label = ui.tr("Uninstall")
        buttons.insert(1, Button(label, lambda: ui.go("confirm_uninstall", name), "soft"))
    return buttons


def confirm_stop(ui: Ui, name: str) -> Window:
    def stop() -> None:
        ui.say(ui.tr("{name} was stopped", name=ui.tr(name)))
        if name != ui.app.name:
            ui.stop(name)

    return ui.dialog(
        ui.tr("Force stop {name}?", name=ui.tr(name)),
        ui.tr("What is open in it will be lost."),
        {ui.tr("Cancel"): None, ui.tr("Force stop"): stop},
    )


def confirm_uninstall(ui: Ui, name: str) -> Window:
    def uninstall() -> None:
        ui.facts.remove_where(InstalledApp, lambda app: app.name == name)
        ui.stop(name)
        ui.say(ui.tr("{name} was uninstalled", name=ui.tr(name)))

    return ui.dialog(
        ui.tr("Uninstall {name}?", name=ui.tr(name)),
        ui.tr("It will be gone from the home screen, too."),
        {ui.tr("Cancel"): None, ui.tr("Uninstall"): uninstall},
    )


def by_battery(ui: Ui) -> list[Widget]:
    """A list of the apps that used most of the battery."""
    apps = sorted(ui.facts.all(InstalledApp), key=lambda app: (-app.battery_share, app.name))
    return [_battery_row(ui, app) for app in apps[:6]]


def _battery_row(ui: Ui, installed: InstalledApp) -> TileRow:
    app = ui.apps[installed.name]
    return TileRow(
        ui.tr(app.name),
        icon=app.icon,
        color=app.color,
        corner=10,
        trailing=ui.language.percent(installed.battery_share / 100),
        on_tap=lambda: ui.go("app_info", app.name),
    )
