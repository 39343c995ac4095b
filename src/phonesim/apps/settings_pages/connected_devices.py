"""Connected devices: paired and available Bluetooth devices, and NFC."""

from __future__ import annotations

from dataclasses import dataclass

from phonesim.app import Ui, Window
from phonesim.apps.settings_pages.rows import page_row, switch_row
from phonesim.scene import Handler
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading
from phonesim.toolkit.widget import Widget


@dataclass(frozen=True, slots=True)
class BluetoothDevice:
    """A device within reach, or one that was paired before."""

    id: int = 0
    name: str = ""
    icon: str = "bluetooth"
    paired: bool = False
    connected: bool = False


def connected(ui: Ui) -> Window:
    paired = ui.facts.where(BluetoothDevice, lambda device: device.connected)
    names = ", ".join(device.name for device in paired) or ui.tr("Nothing connected")
    detail = names if ui.settings.bluetooth else ui.tr("Off")
    rows = [page_row(ui, "bluetooth", detail), switch_row(ui, "nfc")]
    return ui.page(ui.tr("Connected devices"), rows)


def bluetooth(ui: Ui) -> Window:
    rows: list[Widget] = [switch_row(ui, "bluetooth")]
    if not ui.settings.bluetooth:
        rows.append(Empty(ui.tr("Turn on Bluetooth to see devices"), "bluetooth"))
        return ui.page(ui.tr("Bluetooth"), rows)
    devices = ui.facts.all(BluetoothDevice)
    paired = [device for device in devices if device.paired]
    if paired:
        rows.append(Heading(ui.tr("Paired devices")))
        rows += [_paired_row(ui, device) for device in paired]
    rows.append(Heading(ui.tr("Available devices")))
    rows += [
        ListRow(device.name, icon=device.icon, on_tap=_going(ui, "pair", device.id))
        for device in devices
        if not device.paired
    ]
    return ui.page(ui.tr("Bluetooth"), rows)


def _paired_row(ui: Ui, device: BluetoothDevice) -> ListRow:
    return ListRow(
        device.name,
        ui.tr("Connected") if device.connected else ui.tr("Not connected"),
        icon=device.icon,
        selected=device.connected,
        on_tap=_going(ui, "bluetooth_device", device.id),
    )


def _going(ui: Ui, page: str, device_id: int) -> Handler:
    return lambda: ui.go(page, device_id)


def pair(ui: Ui, device_id: int) -> Window:
    device = ui.facts.get(BluetoothDevice, device_id)

    def paired() -> None:
        ui.facts.edit(device, paired=True, connected=True)
        ui.say(ui.tr("Paired with {name}", name=device.name))

    return ui.dialog(
        ui.tr("Pair with {name}?", name=device.name),
        ui.tr("It may then play your sounds and see your calls."),
        {ui.tr("Cancel"): None, ui.tr("Pair"): paired},
    )


def bluetooth_device(ui: Ui, device_id: int) -> Window:
    device = ui.facts.get(BluetoothDevice, device_id)
    connect = ui.tr("Disconnect") if device.connected else ui.tr("Connect")
    return ui.sheet(
        device.name,
        {
            connect: lambda: ui.facts.edit(device, connected=not device.connected),
            ui.tr("Unpair"): lambda: ui.facts.edit(device, paired=False, connected=False),
        },
    )
