"""Network & internet: Wi-Fi with its networks and passwords, the mobile network, the hotspot."""

from __future__ import annotations

from dataclasses import dataclass

from phonesim.app import Ui, Window
from phonesim.apps.settings_pages.rows import (
    change,
    page_row,
    switch_row,
    switch_rows,
)
from phonesim.scene import Handler
from phonesim.toolkit.boxes import Pad
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Text
from phonesim.toolkit.widget import Widget

STRENGTHS = ("Weak signal", "Fair signal", "Good signal", "Excellent signal")


@dataclass(frozen=True, slots=True)
class WifiNetwork:
    """A network within reach; open if `password` is empty."""

    id: int = 0
    name: str = ""
    password: str = ""
    saved: bool = False  # joined before: connects without asking for the password
    strength: int = 3  # index into STRENGTHS


def network(ui: Ui) -> Window:
    settings = ui.settings
    wifi = (settings.wifi_network or ui.tr("Not connected")) if settings.wifi else ui.tr("Off")
    hotspot = ui.tr("On") if settings.hotspot else ui.tr("Off")
    rows: list[Widget] = [
        page_row(ui, "wifi", wifi),
        page_row(ui, "mobile_network"),
        page_row(ui, "hotspot", hotspot),
        switch_row(ui, "airplane_mode"),
        switch_row(ui, "data_saver"),
    ]
    if ui.version == 2:
        rows.insert(0, rows.pop(3))
    return ui.page(ui.tr("Network & internet"), rows)


def wifi(ui: Ui) -> Window:
    rows: list[Widget] = [switch_row(ui, "wifi")]
    if ui.settings.wifi:
        rows += _network_rows(ui)
    else:
        rows.append(Empty(ui.tr("Turn on Wi-Fi to see networks"), "wifi"))
    rows.append(Heading(ui.tr("More")))
    rows.append(switch_row(ui, "wifi_scanning"))
    return ui.page(ui.tr("Wi-Fi"), rows)


def _network_rows(ui: Ui) -> list[Widget]:
    everything = sorted(ui.facts.all(WifiNetwork), key=lambda n: -n.strength)
    joined = [n for n in everything if n.name == ui.settings.wifi_network]
    rows: list[Widget] = []
    if joined:
        rows.append(Heading(ui.tr("Connected")))
        rows += [_network_row(ui, network) for network in joined]
    rows.append(Heading(ui.tr("Available networks")))
    return rows + [_network_row(ui, n) for n in everything if n not in joined]


def _network_row(ui: Ui, network: WifiNetwork) -> ListRow:
    joined = network.name == ui.settings.wifi_network
    state = "Connected" if joined else "Saved" if network.saved else STRENGTHS[network.strength]
    access = "Secured" if network.password else "Open|network"
    details = ui.tr("Details of {name}", name=network.name)
    button = (
        ("settings", details, lambda: ui.go("wifi_network", network.id)) if network.saved else None
    )
    return ListRow(
        network.name,
        f"{ui.tr(state)} · {ui.tr(access)}",
        icon="lock" if network.password and not network.saved else "wifi",
        selected=joined,
        button=button,
        on_tap=_joining(ui, network, joined),
    )


def _joining(ui: Ui, network: WifiNetwork, joined: bool) -> Handler:
    if joined:
        return lambda: ui.go("wifi_network", network.id)
    if network.saved or not network.password:
        return lambda: _join(ui, network)
    return lambda: ui.go("wifi_password", network.id)


def _join(ui: Ui, network: WifiNetwork) -> None:
    ui.facts.edit(network, saved=True)
    change(ui, wifi_network=network.name)
    ui.say(ui.tr("Connected to {name}", name=network.name))


def wifi_password(ui: Ui, network_id: int) -> Window:
    """Ask for the password of a network; after a wrong one the dialog opens again."""
    network = ui.facts.get(WifiNetwork, network_id)

    def connect() -> None:
        if ui.text("password") != network.password:
            ui.say(ui.tr("Wrong password, try again"))
            ui.go("wifi_password", network_id)
        else:
            _join(ui, network)

    field = ui.field("password", ui.tr("Password"), secret=not ui.settings.show_passwords)
    buttons = {ui.tr("Cancel"): None, ui.tr("Connect"): connect}
    return ui.dialog(network.name, [field], buttons)


def wifi_network(ui: Ui, network_id: int) -> Window:
    """The page of a saved network: its signal, and how to forget it."""
    network = ui.facts.get(WifiNetwork, network_id)
    joined = network.name == ui.settings.wifi_network

    def forget() -> None:
        ui.facts.edit(network, saved=False)
        if joined:
            change(ui, wifi_network="")
        ui.say(ui.tr("{name} forgotten", name=network.name))

    choices: dict[str, Handler] = {}
    if joined:
        choices[ui.tr("Disconnect")] = lambda: change(ui, wifi_network="")
    elif ui.settings.wifi:
        choices[ui.tr("Connect")] = lambda: _join(ui, network)
    return ui.sheet(network.name, {**choices, ui.tr("Forget"): forget})


def mobile_network(ui: Ui) -> Window:
    return ui.page(ui.tr("Mobile network"), switch_rows(ui, "mobile_data", "roaming"))


def hotspot(ui: Ui) -> Window:
    note = ui.tr(
        "Others see it as “{name}”. While it is on, Wi-Fi is off.", name=ui.settings.device_name
    )
    return ui.page(ui.tr("Hotspot"), [switch_row(ui, "hotspot"), Pad(Text(note, "small", "muted"))])
