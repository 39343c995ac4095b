"""The app Settings and the quick settings, by taps."""

from __future__ import annotations

import numpy as np
import pytest
from tests.phonesim.conftest import Use

from distrl.records import OpenApp
from phonesim.apps.settings import SettingsApp
from phonesim.apps.settings_pages.catalogue import (
    CHOICES,
    PAGES,
    SWITCHES,
    found_by,
    path_to,
)
from phonesim.apps.settings_pages.connected_devices import BluetoothDevice
from phonesim.apps.settings_pages.networks import WifiNetwork
from phonesim.drawing.theme import ACCENTS
from phonesim.drift import NO_DRIFT
from phonesim.finger import Finger
from phonesim.languages.language import language
from phonesim.phone import Phone
from phonesim.state import Route
from phonesim.system import InstalledApp, SystemSettings, switch
from phonesim.tasks.moves import (
    Fill,
    GoBack,
    GoHome,
    Hold,
    Press,
    PullShade,
    Slide,
    Toggle,
)
from phonesim.tasks.solver import Solver


def go(use: Use, page: str) -> None:
    use(*(Press(title, role="row") for title in path_to(page)))


def settings(phone: Phone) -> SystemSettings:
    return phone.facts.one(SystemSettings)


@pytest.fixture
def phone(phone: Phone) -> Phone:
    phone.perform(OpenApp("Settings"))
    return phone


@pytest.mark.parametrize("setting", SWITCHES)
def test_every_switch_stands_on_its_page_and_switches(phone: Phone, use: Use, setting: str) -> None:
    phone.facts.change(SystemSettings, developer_options=True)
    phone.refresh()
    before = bool(getattr(settings(phone), setting))
    go(use, SWITCHES[setting].page)
    use(Toggle(SWITCHES[setting].label, not before))
    assert getattr(settings(phone), setting) is not before


@pytest.mark.parametrize("setting", [name for name in CHOICES if name != "screen_lock"])
def test_every_choice_offers_what_the_catalogue_says(phone: Phone, use: Use, setting: str) -> None:
    phone.facts.change(SystemSettings, automatic_time=False)
    phone.refresh()
    entry = CHOICES[setting]
    go(use, entry.page)
    if entry.page not in ("wallpapers", "accents"):
        use(Press(entry.label, role="row"))
    label, value = list(entry.options.items())[-1]
    use(Press(label))
    assert getattr(settings(phone), setting) == value


def test_every_page_of_the_catalogue_is_a_page_of_the_app() -> None:
    assert all(callable(getattr(SettingsApp, page)) for page in PAGES)


def test_the_look_changes_at_once(phone: Phone, use: Use) -> None:
    go(use, "display")
    light = phone.frame()
    use(Toggle("Dark theme", True))
    assert phone.frame().mean() < light.mean() / 2
    dark = phone.frame()
    use(Press("Font size"), Press("Largest"))
    assert not np.array_equal(phone.frame(), dark)


def test_the_accent_colours_the_screen(phone: Phone, use: Use) -> None:
    go(use, "accents")
    use(Press("Orange"), GoBack(), GoBack())
    go(use, "sound")
    assert (phone.frame() == ACCENTS["orange"]).all(axis=2).any()


def test_a_network_wants_its_own_password(phone: Phone, finger: Finger, use: Use) -> None:
    phone.facts.add(WifiNetwork(name="Tulip", password="greenkite", strength=3))
    phone.refresh()
    go(use, "wifi")
    use(Press("Tulip"), Fill("Password", "wrong"), Press("Connect"))
    assert settings(phone).wifi_network != "Tulip"
    assert "Wrong password, try again" in finger.labels
    use(Fill("Password", "greenkite"), Press("Connect"))
    assert settings(phone).wifi_network == "Tulip"
    use(Press("Details of Tulip"), Press("Forget"))
    assert settings(phone).wifi_network == ""


def test_without_wifi_there_are_no_networks(phone: Phone, finger: Finger, use: Use) -> None:
    name = settings(phone).wifi_network
    go(use, "wifi")
    assert name in finger.labels
    use(Toggle("Use Wi-Fi", False))
    assert name not in finger.labels


def test_airplane_mode_silences_the_radios_and_brings_back_those_that_were_on() -> None:
    phone = Phone(1, NO_DRIFT)
    phone.facts.change(SystemSettings, wifi=True, bluetooth=False)
    switch(phone.facts, "airplane_mode", True)
    assert not settings(phone).wifi
    switch(phone.facts, "bluetooth", True)  # allowed on board
    switch(phone.facts, "airplane_mode", False)
    assert (settings(phone).wifi, settings(phone).bluetooth) == (True, True)


def test_one_antenna_joins_a_network_or_offers_one() -> None:
    phone = Phone(1, NO_DRIFT)
    switch(phone.facts, "hotspot", True)
    assert not settings(phone).wifi
    switch(phone.facts, "airplane_mode", True)
    switch(phone.facts, "wifi", True)
    switch(phone.facts, "airplane_mode", False)
    assert (settings(phone).wifi, settings(phone).hotspot) == (True, False)


def test_a_device_is_paired_and_unpaired(phone: Phone, use: Use) -> None:
    device = phone.facts.add(BluetoothDevice(name="Toy robot"))
    phone.refresh()
    go(use, "bluetooth")
    use(Toggle("Use Bluetooth", True), Press("Toy robot"), Press("Pair"))
    assert phone.facts.get(BluetoothDevice, device.id).connected
    use(Press("Toy robot"), Press("Unpair"))
    assert not phone.facts.get(BluetoothDevice, device.id).paired


def test_an_app_is_opened_from_the_home_screen_and_uninstalled(
    phone: Phone, finger: Finger, use: Use
) -> None:
    phone.facts.remove_where(InstalledApp, lambda app: app.name == "Chess")
    phone.facts.add(InstalledApp(name="Chess"))
    go(use, "app_list")
    use(Press("Chess"), Press("Open"), GoHome())
    assert "Chess" in phone.state.running
    phone.perform(OpenApp("Settings"))
    use(Press("Uninstall"), Press("Uninstall"))
    assert not phone.facts.where(InstalledApp, lambda app: app.name == "Chess")
    assert "Chess" not in phone.state.running
    assert "Search apps" in finger.labels  # the page of the app has closed itself


def test_what_came_with_the_phone_stays(phone: Phone, finger: Finger, use: Use) -> None:
    phone.push(Route("app_info", ("Clock",)))
    assert "Uninstall" not in finger.labels
    use(Toggle("Camera", True))
    clock = phone.facts.find(InstalledApp, lambda app: app.name == "Clock")
    assert clock
    assert clock.camera


def test_the_launcher_leads_to_the_page_of_an_app() -> None:
    finger = Finger(Phone(1, NO_DRIFT))
    name = min(finger.phone.facts.all(InstalledApp), key=lambda app: app.place).name
    finger.follow(Solver([Hold(name), Press("App info")]))
    assert {"App info", name, "Force stop"} <= finger.labels


def test_a_pin_has_four_digits(phone: Phone, use: Use) -> None:
    go(use, "security")
    use(Press("Screen lock"), Press("PIN"), Fill("New PIN", "12a"), Press("Save"))
    assert settings(phone).screen_lock == "Swipe"
    use(Fill("New PIN", "4821"), Press("Save"))
    assert (settings(phone).screen_lock, settings(phone).screen_pin) == ("PIN", "4821")


def test_seven_taps_on_the_build_number_make_a_developer(
    phone: Phone, finger: Finger, use: Use
) -> None:
    go(use, "about")
    use(*(Press("Build number"),) * 6)
    assert not settings(phone).developer_options
    use(Press("Build number"), GoBack())
    go(use, "developer")
    assert "USB debugging" in finger.labels


def test_the_time_zone_waits_until_it_is_not_automatic(phone: Phone, use: Use) -> None:
    go(use, "date_time")
    rows = [e for e in phone.elements() if e.text == "Time zone"]
    assert not any(row.clickable for row in rows)
    use(Toggle("Set time automatically", False), Press("Time zone"))
    use(Fill("Search time zone", "Osl"), Press("Oslo"))
    assert settings(phone).timezone == "Oslo"


@pytest.mark.parametrize(
    ("query", "label", "page"),
    [
        ("dark", "Dark theme", "display"),
        ("24-hour", "Use 24-hour format", "date_time"),
        ("volume alarm", "Alarm volume", "sound"),
        ("rename", "Device name", "about"),
    ],
)
def test_search_finds_the_page(phone: Phone, use: Use, query: str, label: str, page: str) -> None:
    use(Fill("Search settings", query), Press(label, role="row"))
    assert phone.routes[-1].page == page


def test_search_finds_nothing_where_there_is_nothing() -> None:
    assert found_by("submarine", language("English")) == []


def test_the_shade_switches_and_dims() -> None:
    phone = Phone(1, NO_DRIFT)
    moves = (PullShade(), Toggle("Airplane mode", True), Slide("Brightness", 0.25))
    Finger(phone).follow(Solver(moves))
    assert settings(phone).airplane_mode
    assert not settings(phone).wifi
    assert settings(phone).brightness == pytest.approx(0.25, abs=0.01)
