"""A virtual device is made and its snapshot taken, with stand-ins for Android's own programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.devices.emulator.stand_in_sdk import PORTS, StandInSdk, stand_in_sdk

from distrl.devices.emulator.emulator import EmulatorSettings
from distrl.devices.emulator.virtual_device import create_virtual_device, save_snapshot
from distrl.errors import CommandRefused, EmulatorStopped


@pytest.fixture
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandInSdk]:
    with stand_in_sdk(tmp_path, monkeypatch) as sdk:
        yield sdk


def test_a_virtual_device_is_made_once(sdk: StandInSdk) -> None:
    create_virtual_device("phone", "system-images;android-34;google_apis;x86_64")
    made = (sdk.folder / "phone.avd").read_text()
    assert "create avd --name phone --package system-images;android-34" in made
    with pytest.raises(CommandRefused, match="already exists"):
        create_virtual_device("phone")


def test_a_snapshot_is_taken_of_a_writable_phone_that_is_ready(sdk: StandInSdk) -> None:
    settings = EmulatorSettings(avd="phone", snapshot="clean", boot_seconds=30.0)
    save_snapshot(settings, sdk.adb.server, sdk.folder / "log", PORTS)
    assert (sdk.folder / "saved-snapshot").read_text() == "clean"
    [started] = sdk.starts
    assert "-read-only" not in started
    assert not Path(f"/proc/{started.split()[0]}").exists()


def test_one_that_does_not_boot_leaves_no_snapshot(sdk: StandInSdk) -> None:
    sdk.plan("crashes")
    with pytest.raises(EmulatorStopped):
        save_snapshot(EmulatorSettings(), sdk.adb.server, sdk.folder / "log", PORTS)
    assert not (sdk.folder / "saved-snapshot").exists()
