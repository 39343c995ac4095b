"""Apps: what is installed, what each may do, and how to stop or remove it."""

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
    found = ui.facts.where(InstalledApp, lambda app: query in app.name.casefold())
    rows: list[Widget] = []
    for title, removable in (("Installed by you", True), ("Came with the phone", False)):
        group = [app for app in found if ui.apps[app.name].removable is removable]
        if group:
            rows.append(Heading(title))
            rows += [_app_row(ui, app) for app in sorted(group, key=lambda app: app.name)]
    search = ui.field("query", "Search apps", icon="search")
    return ui.page(
        "Apps",
        rows or [Empty("No app of that name", "apps")],
        head=Pad(search, sides=12, top=4, bottom=4),
    )


def _app_row(ui: Ui, installed: InstalledApp) -> TileRow:
    app = ui.apps[installed.name]
    return TileRow(
        app.name,
        "" if installed.notifications else "Notifications off",
        icon=app.icon,
        color=app.color,
        corner=10,
        on_tap=lambda: ui.go("app_info", app.name),
    )


def app_info(ui: Ui, name: str) -> Window:
    """Everything about one app; the launcher leads here, too."""
    installed = ui.facts.find(InstalledApp, lambda app: app.name == name)
    if installed is None:
        raise MissingFact(f"{name} is not installed")
    app = ui.apps[name]
    head = TileRow(name, f"Version {installed.version}", icon=app.icon, color=app.color, corner=10)
    rows: list[Widget] = [head, Pad(Row(_buttons(ui, name), align="spread"))]
    rows.append(_field_row(ui, installed, "notifications", "Notifications", "message"))
    rows.append(Heading("Permissions"))
    rows += [_field_row(ui, installed, field, *look) for field, look in PERMISSIONS.items()]
    rows += [
        Heading("Use"),
        ListRow("Storage", f"{installed.storage_megabytes} MB", icon="storage"),
        ListRow("Battery", f"{installed.battery_share}% since the last charge", icon="battery"),
    ]
    return ui.page("App info", rows)


def _field_row(ui: Ui, app: InstalledApp, field: str, label: str, icon: str) -> ListRow:
    on = bool(getattr(app, field))
    return ListRow(
        label, icon=icon, switch=on, on_tap=lambda: ui.facts.edit(app, **{field: not on})
    )


def _buttons(ui: Ui, name: str) -> list[Button]:
    buttons = [
        Button("Open", lambda: ui.launch(name), "soft"),
        Button("Force stop", lambda: ui.go("confirm_stop", name), "soft"),
    ]
    if ui.apps[name].removable:
        buttons.insert(1, Button("Uninstall", lambda: ui.go("confirm_uninstall", name), "soft"))
    return buttons


def confirm_stop(ui: Ui, name: str) -> Window:
    def stop() -> None:
        ui.say(f"{name} was stopped")
        if name != ui.app.name:
            ui.stop(name)

    text = "What is open in it will be lost."
    return ui.dialog(f"Force stop {name}?", text, {"Cancel": None, "Force stop": stop})


def confirm_uninstall(ui: Ui, name: str) -> Window:
    def uninstall() -> None:
        ui.facts.remove_where(InstalledApp, lambda app: app.name == name)
        ui.stop(name)
        ui.say(f"{name} was uninstalled")

    text = "It will be gone from the home screen, too."
    return ui.dialog(f"Uninstall {name}?", text, {"Cancel": None, "Uninstall": uninstall})


def by_battery(ui: Ui) -> list[Widget]:
    """The apps that used most of the battery."""
    apps = sorted(ui.facts.all(InstalledApp), key=lambda app: (-app.battery_share, app.name))
    return [_battery_row(ui, app) for app in apps[:6]]


def _battery_row(ui: Ui, installed: InstalledApp) -> TileRow:
    app = ui.apps[installed.name]
    return TileRow(
        app.name,
        icon=app.icon,
        color=app.color,
        corner=10,
        trailing=f"{installed.battery_share}%",
        on_tap=lambda: ui.go("app_info", app.name),
    )
