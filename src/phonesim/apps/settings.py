"""Settings: everything that can be set on the phone, on nested pages, with a search over them.

The pages are in `settings_pages`; its catalogue lists what is on each.
"""

from __future__ import annotations

import random
from datetime import datetime

from phonesim.app import App, Ui, Window
from phonesim.apps.settings_pages import (
    appearance,
    connected_devices,
    installed_apps,
    networks,
    phone_itself,
    protection,
    rows,
    sounds,
)
from phonesim.apps.settings_pages.catalogue import PAGES, TONES, found_by, path_to
from phonesim.apps.settings_pages.connected_devices import BluetoothDevice
from phonesim.apps.settings_pages.networks import WifiNetwork
from phonesim.apps.settings_pages.phone_itself import DeviceIdentity
from phonesim.facts import Facts
from phonesim.scene import Handler
from phonesim.system import InstalledApp, SystemSettings
from phonesim.toolkit.boxes import Pad
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.tile_rows import TileRow
from phonesim.toolkit.widget import Widget

MAX_RESULTS = 30
ORDERS = {  # first pages in each version of the app; the others follow in the catalogue's order
    1: ("network", "connected", "app_list", "notifications", "battery"),
    2: ("network", "display", "style", "sound", "about", "notifications"),
    3: ("about", "connected", "network", "battery", "display", "sound"),
}
NETWORKS = (
    ("HomeNet", "kettle-41"), ("Maple Street 12", "quiet-otter"), ("Cafe Luma", ""),
    ("Attic", "b0okshelf"), ("NorthWing", "sail4way"), ("Harbour Guest", ""),
    ("Sparrow", "tin-drum-7"), ("Studio 9", "yellowdoor"), ("City Library", ""),
    ("Garden House", "plum-tree"), ("Flat 3B", "seven-spoons"), ("Workshop", "drill&saw"),
)  # fmt: skip
DEVICES = (
    ("Kitchen speaker", "sound"), ("Olive earbuds", "music"), ("Garnet headphones", "music"),
    ("Desk keyboard", "keyboard_icon"), ("Car radio", "car"), ("Fitness band", "fitness"),
    ("Bedroom lamp", "sun"), ("Living room screen", "video"), ("Game controller", "game"),
)  # fmt: skip
MODELS = ("Fennec 5", "Fennec 5 Mini", "Fennec 6", "Fennec 6 Plus")
OPERATORS = ("Tide Mobile", "Kestrel", "Nordtel", "Bluebell")


class SettingsApp(App):
    """The list of pages, and a search over what can be set on them."""

    name = "Settings"
    icon = "settings"
    color = (96, 104, 120)
    kinds = (WifiNetwork, BluetoothDevice, DeviceIdentity)

    choose = staticmethod(rows.choose)
    network = staticmethod(networks.network)
    wifi = staticmethod(networks.wifi)
    wifi_password = staticmethod(networks.wifi_password)
    wifi_network = staticmethod(networks.wifi_network)
    mobile_network = staticmethod(networks.mobile_network)
    hotspot = staticmethod(networks.hotspot)
    connected = staticmethod(connected_devices.connected)
    bluetooth = staticmethod(connected_devices.bluetooth)
    pair = staticmethod(connected_devices.pair)
    bluetooth_device = staticmethod(connected_devices.bluetooth_device)
    app_list = staticmethod(installed_apps.app_list)
    app_info = staticmethod(installed_apps.app_info)
    confirm_stop = staticmethod(installed_apps.confirm_stop)
    confirm_uninstall = staticmethod(installed_apps.confirm_uninstall)
    notifications = staticmethod(phone_itself.notifications)
    battery = staticmethod(phone_itself.battery)
    display = staticmethod(appearance.display)
    style = staticmethod(appearance.style)
    wallpapers = staticmethod(appearance.wallpapers)
    accents = staticmethod(appearance.accents)
    sound = staticmethod(sounds.sound)
    accessibility = staticmethod(phone_itself.accessibility)
    security = staticmethod(protection.security)
    screen_lock = staticmethod(protection.screen_lock)
    new_pin = staticmethod(protection.new_pin)
    location = staticmethod(protection.location)
    system = staticmethod(phone_itself.system)
    date_time = staticmethod(phone_itself.date_time)
    keyboard = staticmethod(phone_itself.keyboard)
    developer = staticmethod(phone_itself.developer)
    about = staticmethod(phone_itself.about)
    rename = staticmethod(phone_itself.rename)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        near = rng.sample(NETWORKS, 7)
        for place, (name, password) in enumerate(near):
            strength = 3 if place == 0 else rng.randrange(4)
            facts.add(WifiNetwork(0, name, password, place < 2, strength))
        devices = rng.sample(DEVICES, 6)
        for place, (name, icon) in enumerate(devices):
            facts.add(BluetoothDevice(0, name, icon, paired=place < 2))
        model = rng.choice(MODELS)
        facts.add(_identity(rng, model))
        facts.change(
            SystemSettings,
            wifi_network=near[0][0],
            device_name=model,
            use_24_hour=rng.random() < 0.7,
            ringtone=rng.choice(TONES),
            alarm_sound=rng.choice(TONES),
            notification_sound=rng.choice(TONES),
            **{f"{kind}_volume": rng.randrange(2, 19) / 20 for kind in ("media", "ring", "alarm")},
        )
        for app in facts.all(InstalledApp):
            allowed = {name: rng.random() < 0.3 for name in installed_apps.PERMISSIONS}
            facts.edit(app, storage_megabytes=rng.randrange(18, 960), **allowed)
        _spread_battery(facts, rng)

    def home(self, ui: Ui) -> Window:
        query = ui.text("query").strip()
        search = ui.field("query", ui.tr("Search settings"), icon="search")
        return ui.page(
            ui.tr("Settings"),
            _results(ui, query) if query else _first_page(ui),
            head=Pad(search, sides=12, top=4, bottom=4),
        )


def _identity(rng: random.Random, model: str) -> DeviceIdentity:
    return DeviceIdentity(
        model=model,
        system_version=f"{rng.randrange(11, 17)}.{rng.randrange(0, 6)}",
        build_number=f"FX{rng.randrange(100, 999)}.{rng.randrange(1000, 9999)}",
        serial_number=f"S{rng.randrange(10**7, 10**8)}",
        phone_number=f"0155 {rng.randrange(100, 999)} {rng.randrange(1000, 9999)}",
        network_operator=rng.choice(OPERATORS),
        wifi_address=":".join(f"{rng.randrange(256):02x}" for _ in range(6)),
    )


def _spread_battery(facts: Facts, rng: random.Random) -> None:
    """Give eight random apps decreasing battery shares; the first five are distinct."""
    apps = list(facts.all(InstalledApp))
    rng.shuffle(apps)
    for app, share in zip(apps, (31, 22, 14, 9, 6, 4, 3, 2), strict=False):
        facts.edit(app, battery_share=share - rng.randrange(2))


def _first_page(ui: Ui) -> list[Widget]:
    first = ORDERS.get(ui.version, ORDERS[1])
    pages = [page for page, entry in PAGES.items() if entry.parent == "home"]
    ordered = [*first, *(page for page in pages if page not in first)]
    return [_page_row(ui, page) for page in ordered]


def _page_row(ui: Ui, page: str) -> TileRow:
    entry, settings = PAGES[page], ui.settings
    told = {
        "battery": ui.language.percent(settings.battery_percent / 100),
        "location": ui.tr("On") if settings.location else ui.tr("Off"),
        "about": settings.device_name,
    }
    return TileRow(
        ui.tr(entry.title),
        told.get(page) or ui.tr(entry.summary),
        icon=entry.icon,
        color=entry.color,
        detail_lines=1,
        on_tap=_going(ui, page),
    )


def _results(ui: Ui, query: str) -> list[Widget]:
    found = [_result(ui, label, page) for label, page in found_by(query, ui.language)[:MAX_RESULTS]]
    return [*found] or [Empty(ui.tr("Nothing found for “{query}”", query=query), "search")]


def _result(ui: Ui, label: str, page: str) -> ListRow:
    above = [ui.tr(title) for title in path_to(page) if title != label]
    return ListRow(ui.tr(label), " › ".join(above), icon="search", on_tap=_going(ui, page))


def _going(ui: Ui, page: str) -> Handler:
    return lambda: ui.go(page)
