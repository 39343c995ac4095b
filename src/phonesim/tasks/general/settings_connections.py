"""Tasks in Settings about Wi-Fi networks and Bluetooth devices."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from phonesim.apps.notes import Note
from phonesim.apps.settings_pages.connected_devices import BluetoothDevice
from phonesim.apps.settings_pages.networks import WifiNetwork
from phonesim.facts import Facts
from phonesim.system import SystemSettings
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.settings import settings_missing, to_page
from phonesim.tasks.moves import Fill, Move, Open, Press, Toggle
from phonesim.tasks.template import Template, View, added, changed, differing_fields, removed

NETWORK_NAMES = Domain(
    "network names",
    (
        "Blue Door", "Tulip", "Riverside 4", "Upstairs", "Owl Post", "Corner Bakery", "Sunroom",
        "Pine Lodge", "Platform 6", "The Shed", "Captain", "Winter Garden", "Room 101", "Sofa",
    ),
)  # fmt: skip
PASSWORDS = Domain(
    "network passwords",
    (
        "melon-44", "greenkite", "ten-apples", "wool&socks", "quick-snail", "8bridges",
        "cold-brew-2", "tall.giraffe", "paperboat", "onion-soup", "redlamp77", "slow-train",
        "maple&oak", "stonefish", "luckyduck5", "rain-coat",
    ),
)  # fmt: skip
DEVICE_NAMES = Domain(
    "bluetooth devices",
    (
        "Marlin speaker", "Tern earbuds", "Pico mouse", "Juno headphones", "Bike computer",
        "Bathroom radio", "Smart scale", "Studio microphone", "Toy robot", "Rower", "Hearing aid",
        "Label printer",
    ),
)  # fmt: skip


def network_missing(start: View, end: View, name: str, saved: bool) -> str | None:
    """Return None if this network is saved or not, as wanted, and no other changed; else why."""
    if added(start, end, WifiNetwork) or removed(start, end, WifiNetwork):
        return "a network came or went"
    for old, new in changed(start, end, WifiNetwork):
        if old.name != name or differing_fields(old, new) != {"saved"}:
            return f"another network was changed: {old.name}"
    wanted = [network for network in end.all(WifiNetwork) if network.name == name]
    if [network.saved for network in wanted] != [saved]:
        return f"the network {name} is {'not ' if saved else 'still '}saved"
    return None


def joined_missing(start: View, end: View, name: str) -> str | None:
    """Return None if the phone is in this network and no other setting changed; else why."""
    return settings_missing(start, end, {"wifi": True, "wifi_network": name, "hotspot": False})


def device_missing(start: View, end: View, name: str, paired: bool, connected: bool) -> str | None:
    """Return None if this device is paired and connected as wanted, alone; else what is wrong."""
    if added(start, end, BluetoothDevice) or removed(start, end, BluetoothDevice):
        return "a device came or went"
    for old, new in changed(start, end, BluetoothDevice):
        if old.name != name or differing_fields(old, new) - {"paired", "connected"}:
            return f"something else was changed: {old.name}"
    device = next((d for d in end.all(BluetoothDevice) if d.name == name), None)
    if device is None or (device.paired, device.connected) != (paired, connected):
        return f"{name} should be paired: {paired}, connected: {connected}; it is {device}"
    return None


@dataclass(frozen=True)
class JoinWifi(Template):
    name = "settings.join_wifi"
    apps: ClassVar[tuple[str, ...]] = ("Settings",)
    difficulty = "hard"
    phrasings = (
        'Turn on Wi-Fi and connect to the network "{network}". The password is {password}',
        'Wi-Fi is off. Join the network "{network}" with the password {password}',
        'Please get me onto the Wi-Fi network "{network}", its password is {password}',
    )
    touches = (SystemSettings, WifiNetwork)
    network: str = parameter(NETWORK_NAMES)
    password: str = parameter(PASSWORDS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.change(SystemSettings, wifi=False)
        facts.add(WifiNetwork(name=self.network, password=self.password, strength=3))

    def missing(self, start: View, end: View) -> str | None:
        wrong = joined_missing(start, end, self.network)
        return wrong or network_missing(start, end, self.network, True)

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_page("wifi")
        yield Toggle("Use Wi-Fi", True)
        yield Press(self.network, role="row")
        yield Fill("Password", self.password)
        yield Press("Connect")


@dataclass(frozen=True)
class JoinWifiFromNote(JoinWifi):
    name = "settings.join_wifi_from_note"
    apps = ("Settings", "Notes")
    phrasings = (
        'Connect to the Wi-Fi network "{network}". Its password is in my notes',
        'Look up the password of the Wi-Fi "{network}" in Notes and join the network',
        'I wrote down the password of the network "{network}" in Notes. Use it to connect',
    )

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.add(WifiNetwork(name=self.network, password=self.password, strength=3))
        facts.add(Note(title=f"Wi-Fi {self.network}", text=f"Password: {self.password}"))

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Notes")
        yield from super().solve(start)


@dataclass(frozen=True)
class JoinSavedWifi(Template):
    name = "settings.switch_wifi"
    apps = ("Settings",)
    difficulty = "medium"
    phrasings = (
        'Switch to the Wi-Fi network "{network}"; I have used it before',
        'Connect to my saved network "{network}"',
        'Use the Wi-Fi "{network}" instead of the current one',
    )
    touches = (SystemSettings, WifiNetwork)
    network: str = parameter(NETWORK_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        password = rng.choice(PASSWORDS.train)
        facts.add(WifiNetwork(name=self.network, password=password, saved=True, strength=2))

    def missing(self, start: View, end: View) -> str | None:
        wrong = joined_missing(start, end, self.network)
        return wrong or network_missing(start, end, self.network, True)

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_page("wifi")
        yield Press(self.network, role="row")


@dataclass(frozen=True)
class ForgetWifi(Template):
    name = "settings.forget_wifi"
    apps = ("Settings",)
    difficulty = "medium"
    phrasings = (
        'Forget the Wi-Fi network "{network}"',
        'Remove "{network}" from the saved networks',
        'My phone should no longer know the network "{network}"',
    )
    touches = (SystemSettings, WifiNetwork)
    held_out = True
    network: str = parameter(NETWORK_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        password = rng.choice(PASSWORDS.train)
        facts.add(WifiNetwork(name=self.network, password=password, saved=True, strength=2))

    def missing(self, start: View, end: View) -> str | None:
        return settings_missing(start, end, {}) or network_missing(start, end, self.network, False)

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_page("wifi")
        yield Press(f"Details of {self.network}")
        yield Press("Forget")


@dataclass(frozen=True)
class PairDevice(Template):
    name = "settings.pair_device"
    apps = ("Settings",)
    difficulty = "medium"
    phrasings = (
        "Pair my phone with the {device}",
        "Connect to the {device} over Bluetooth",
        "There is a new {device} nearby: pair it via Bluetooth",
    )
    touches = (SystemSettings, BluetoothDevice)
    device: str = parameter(DEVICE_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.change(SystemSettings, bluetooth=rng.random() < 0.5)
        facts.add(BluetoothDevice(name=self.device))

    def missing(self, start: View, end: View) -> str | None:
        wrong = settings_missing(start, end, {"bluetooth": True})
        return wrong or device_missing(start, end, self.device, True, True)

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_page("bluetooth")
        yield Toggle("Use Bluetooth", True)
        yield Press(self.device, role="row")
        yield Press("Pair")


@dataclass(frozen=True)
class UnpairDevice(Template):
    name = "settings.unpair_device"
    apps = ("Settings",)
    difficulty = "medium"
    phrasings = (
        "Unpair the {device} from my phone",
        "Remove the {device} from the Bluetooth devices",
        "I gave the {device} away. Please unpair it",
    )
    touches = (BluetoothDevice,)
    device: str = parameter(DEVICE_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.change(SystemSettings, bluetooth=True)
        facts.add(BluetoothDevice(name=self.device, paired=True, connected=rng.random() < 0.5))

    def missing(self, start: View, end: View) -> str | None:
        return device_missing(start, end, self.device, False, False)

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_page("bluetooth")
        yield Press(self.device, role="row")
        yield Press("Unpair")


TEMPLATES: tuple[type[Template], ...] = (
    JoinWifi,
    JoinWifiFromNote,
    JoinSavedWifi,
    ForgetWifi,
    PairDevice,
    UnpairDevice,
)
