"""Whatever page is open, its snapshot can be read again: judges over adb live on that."""

from __future__ import annotations

import random

import pytest
from tests.slow_params import one_in

from distrl.records import Back, OpenApp, Tap
from phonesim.finger import Finger
from phonesim.simulated_device import SimulatedDevice
from phonesim.snapshot import from_bytes, to_bytes

APPS = (
    "Browser", "Calculator", "Calendar", "Clock", "Contacts", "Files", "Gallery", "Mail", "Maps",
    "Messages", "Music", "Notes", "Phone", "Settings", "Store", "Tasks", "Weather",
)  # fmt: skip


@pytest.mark.parametrize("app", one_in(2, APPS))
def test_pages_that_a_monkey_finds(app: str) -> None:
    rng = random.Random(f"snapshot_pages/{app}")
    device = SimulatedDevice("phone")
    device.reset(3)
    for _ in range(12):
        if device.phone.state.front != app:
            device.perform(OpenApp(app))
        touchable = [each for each in device.elements() if each.clickable and each.window == "app"]
        if not touchable:
            device.perform(Back())
            continue
        x, y = rng.choice(touchable).centre
        device.perform(Tap((x + 0.5) / 360, (y + 0.5) / 720))
        state = from_bytes(to_bytes(device.phone.snapshot()))
        assert to_bytes(state) == to_bytes(device.phone.snapshot()), device.phone.routes[-1].page


def test_a_page_of_the_settings_survives() -> None:
    """Its pages are plain functions that do not take the app, unlike those of the other apps."""
    device = SimulatedDevice("phone")
    device.reset(3)
    device.perform(OpenApp("Settings"))
    home = device.phone.routes[-1].page
    x, y = Finger(device.phone).find("Display").centre
    device.perform(Tap((x + 0.5) / 360, (y + 0.5) / 720))
    assert device.phone.routes[-1].page != home
    before = device.screen().digest
    state = from_bytes(to_bytes(device.phone.snapshot()))
    device.perform(Back())
    device.phone.restore(state)
    assert device.screen().digest == before
