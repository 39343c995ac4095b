"""An app of somebody else is on the phone like ours, and on no phone without it."""

from __future__ import annotations

import re

import pytest
from tests.devices.adb.served_phones import served_phones
from tests.plugin_package.src.distrl_quiet.hush_app import Hush, HushApp

import distrl
from distrl import plugins
from distrl.records import OpenApp, Tap
from phonesim.adb_daemon.android_names import own_package
from phonesim.apps import APPS, OWN_APPS
from phonesim.simulated_device import SimulatedDevice


def test_it_is_opened_operated_and_part_of_snapshots() -> None:
    without = SimulatedDevice("phone")
    without.reset(3)
    assert "Hush" not in APPS
    assert distrl.register_app(HushApp) is HushApp
    assert (list(APPS)[-1], len(APPS)) == ("Hush", len(OWN_APPS) + 1)
    device = SimulatedDevice("phone")
    device.reset(3)
    device.perform(OpenApp("Hush"))
    before = device.phone.facts.one(Hush).minutes
    kept = device.snapshot()
    [button] = [each for each in device.elements() if each.text == "Five minutes more"]
    screen = device.screen()
    x, y = button.centre
    device.perform(Tap(x / screen.width, y / screen.height))
    assert device.phone.facts.one(Hush).minutes == before + 5
    assert f"{before + 5} minutes of quiet" in {each.text for each in device.elements()}
    device.restore(kept)
    assert device.phone.facts.one(Hush).minutes == before


def test_phones_without_it_are_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    device = SimulatedDevice("phone")
    device.reset(3)
    pixels = device.screen().digest
    distrl.register_app(HushApp)
    device.reset(3)
    device.perform(OpenApp("Hush"))
    monkeypatch.setattr(plugins, "_registry", plugins._Registry())
    device.reset(3)
    assert device.screen().digest == pixels


@pytest.mark.parametrize("name", ["Water Log", "Café", "2048", "Näher dran", "日本語", "¡!"])
def test_it_may_be_called_as_apps_are(name: str) -> None:
    distrl.register_app(type("NamedApp", (HushApp,), {"name": name}))
    device = SimulatedDevice("phone")
    device.reset(3)
    kept = device.snapshot()
    device.perform(OpenApp(name))
    assert "Five minutes more" in {each.text for each in device.elements()}
    device.restore(kept)
    assert device.phone.state.front != name
    assert re.fullmatch(r"com\.distrl\.[a-z][a-z0-9]*", own_package(name))


def test_packages_of_apps_with_other_letters_are_their_own() -> None:
    names = ["Caf", "Café", "Cafß", "日本", "中国", "¡!", "2048", "Notes"]
    assert len({own_package(name) for name in names}) == len(names)
    assert (own_package("To-do"), own_package("2048")) == ("com.distrl.todo", "com.distrl.app2048")


@pytest.mark.slow
def test_adb_starts_it() -> None:
    distrl.register_app(HushApp)
    with served_phones() as served, served.device() as device:
        device.reset(3)
        device.perform(OpenApp("Hush"))
        assert "Five minutes more" in {each.text for each in device.elements()}
