"""Who is guarded: handsets always, what says that it is emulated only on request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.devices.adb.served_phones import ServedPhones, served_phones

from distrl.devices.adb.adb_device import AdbDevice
from distrl.devices.adb.android_phones import open_phone
from distrl.devices.adb.android_settings import AndroidSettings
from distrl.devices.adb.simulated_adb_device import SimulatedAdbDevice
from distrl.devices.safety.safety import SafeDevice, SafetySettings
from distrl.errors import ConsentMissing, InvalidSetting


@pytest.fixture(scope="module")
def phones() -> Iterator[ServedPhones]:
    with served_phones(2) as served:
        yield served


def opened(phones: ServedPhones, settings: AndroidSettings | None = None) -> object:
    serial = phones.phones.addresses[0]
    return open_phone("phone", serial, phones.adb.server, settings or AndroidSettings())


def test_a_served_phone_can_be_judged_and_one_that_was_lost_is_connected(
    phones: ServedPhones,
) -> None:
    phones.adb.server.disconnect(phones.phones.addresses[0])
    device = opened(phones)
    assert isinstance(device, SimulatedAdbDevice)
    device.reset(3)
    assert device.phone.state.seed == 3
    device.close()


def test_a_handset_is_guarded_and_needs_consent(
    phones: ServedPhones, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISTRL_CONSENT", str(tmp_path))
    monkeypatch.setitem(phones.handset().properties, "ro.hardware", "qcom")
    device = opened(phones)
    assert isinstance(device, SafeDevice)
    with pytest.raises(ConsentMissing, match="is a handset"):
        device.reset(0)
    assert phones.handset().properties["ro.hardware"] == "qcom"  # a reset would have taken it away


def test_an_emulator_is_guarded_only_on_request(
    phones: ServedPhones, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(phones.handset().properties, "ro.hardware", "ranchu")
    assert isinstance(opened(phones), AdbDevice)
    assert isinstance(opened(phones, AndroidSettings(guard_all=True)), SafeDevice)


def test_only_allowed_apps_may_be_cleared() -> None:
    with pytest.raises(InvalidSetting, match="clear_apps"):
        AndroidSettings(clear_apps=("com.bank",))
    AndroidSettings(clear_apps=("com.notes",), safety=SafetySettings(apps=("com.notes",)))
