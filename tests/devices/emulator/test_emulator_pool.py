"""A pool keeps its emulators healthy: crashes and hangs are replaced, spares stand by warm."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.devices.adb.served_phones import AT_ONCE_SETTINGS
from tests.devices.emulator.stand_in_sdk import StandInSdk, stand_in_sdk

from distrl.devices.emulator.emulator import Emulator
from distrl.devices.emulator.emulator_pool import EmulatedDevice, EmulatorPool, EmulatorPoolSettings
from distrl.errors import (
    DeviceDisconnected,
    DeviceNotReady,
    DeviceTimeout,
    EmulatorStopped,
    InvalidSetting,
)
from distrl.records import Home, OpenApp

QUICK = EmulatorPoolSettings(count=1, spares=1, look_seconds=0.1, retry_seconds=0.05)


@pytest.fixture
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandInSdk]:
    with stand_in_sdk(tmp_path, monkeypatch) as sdk:
        yield sdk


def wait_for(condition: Callable[[], bool], seconds: float = 100.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.02)


def kill(emulator: Emulator, how: int) -> None:
    assert emulator.process_id is not None
    os.killpg(emulator.process_id, how)


def test_a_killed_emulator_is_replaced_by_the_spare_and_a_new_spare_boots(sdk: StandInSdk) -> None:
    with EmulatorPool(sdk.emulator, QUICK) as pool:
        wait_for(lambda: len(pool.ready) == 2)
        with EmulatedDevice("seat-0", pool, AT_ONCE_SETTINGS) as device:
            device.reset(0)
            home, serial = device.screen().digest, device.serial
            assert device.perform(OpenApp("Settings")).digest != home
            port = f"-port {serial.removeprefix('emulator-')} "
            [started] = [each for each in sdk.starts if port in each]
            started_before = sdk.starts
            os.killpg(int(started.split()[0]), signal.SIGKILL)
            with pytest.raises(DeviceDisconnected):
                _use_until_it_fails(device)
            device.reset(0)
            assert device.serial != serial
            port = f"-port {device.serial.removeprefix('emulator-')} "
            assert any(port in each for each in started_before)  # the spare, not a new boot
            assert device.screen().digest == home
            wait_for(lambda: len(pool.ready) == 1)
            report = pool.counts
            assert (report.crashes, report.hangs, len(pool.in_use)) == (1, 0, 1)
    processes = [int(started.split()[0]) for started in sdk.starts]
    assert len(processes) == 3
    assert all(not Path(f"/proc/{process}").exists() for process in processes)


def _use_until_it_fails(device: EmulatedDevice) -> None:
    end = time.monotonic() + 60.0  # a limit for the test itself; it fails within milliseconds
    while time.monotonic() < end:
        device.perform(Home())


@pytest.mark.slow
def test_one_that_freezes_in_use_is_replaced_and_one_whose_app_failed_is_kept(
    sdk: StandInSdk,
) -> None:
    settings = replace(AT_ONCE_SETTINGS, command_seconds=0.5)

    def patient() -> Emulator:
        """Waiting for a frozen one to load its snapshot would take an hour."""
        return sdk.emulator(snapshot_seconds=3600.0)

    with EmulatorPool(patient, QUICK) as pool:
        wait_for(lambda: len(pool.ready) == 2)
        with EmulatedDevice("seat-0", pool, settings) as device:
            device.reset(0)
            serial = device.serial
            with pytest.raises(DeviceTimeout, match="a hiccup"), device._here().at_work():
                raise DeviceTimeout("a hiccup")
            with pytest.raises(DeviceTimeout, match="not reset since"):
                device.screen()
            device.reset(0)
            assert device.serial == serial  # the snapshot was enough
            [started] = [each for each in sdk.starts if serial.removeprefix("emulator-") in each]
            os.killpg(int(started.split()[0]), signal.SIGSTOP)
            with pytest.raises(DeviceTimeout):
                _use_until_it_fails(device)
            device.reset(0)
            assert device.serial != serial
            assert pool.counts.hangs == 1


def test_one_that_dies_as_its_reset_begins_is_not_waited_for(sdk: StandInSdk) -> None:
    for_an_hour = replace(AT_ONCE_SETTINGS, reconnect_seconds=3600.0)
    with EmulatorPool(sdk.emulator, QUICK) as pool:
        wait_for(lambda: len(pool.ready) == 2)
        with EmulatedDevice("seat-0", pool, for_an_hour) as device:
            device.reset(0)
            emulator, serial = pool.in_use[0], device.serial

            def answer_and_die() -> bool:
                kill(emulator, signal.SIGKILL)
                wait_for(lambda: not emulator.running)
                wait_for(lambda: serial not in [each.serial for each in sdk.adb.server.devices()])
                return True

            emulator.answers = answer_and_die  # type: ignore[method-assign]
            device.reset(0)
            assert device.serial != serial
            assert device.screen().pixels.any()


@pytest.mark.slow
def test_a_spare_that_freezes_is_found_before_anybody_takes_it(sdk: StandInSdk) -> None:
    with EmulatorPool(sdk.emulator, QUICK) as pool:
        wait_for(lambda: len(pool.ready) == 2)
        emulator = pool.take(1.0)
        pool.give_back(emulator, healthy=True)
        kill(emulator, signal.SIGSTOP)
        wait_for(lambda: pool.counts.hangs == 1)
        wait_for(lambda: len(pool.ready) == 2)
        assert not emulator.running


def test_boots_that_fail_are_tried_again(sdk: StandInSdk) -> None:
    sdk.plan("crashes", "crashes")
    settings = EmulatorPoolSettings(count=1, spares=0, look_seconds=0.05, retry_seconds=0.05)
    with EmulatorPool(sdk.emulator, settings) as pool:
        emulator = pool.take(40.0)
        assert emulator.answers()
        report = pool.counts
        assert (report.boots, report.failed_boots) == (3, 2)


def test_a_pool_that_cannot_boot_gives_up_and_says_why(sdk: StandInSdk) -> None:
    sdk.plan(*["crashes"] * 3)
    settings = EmulatorPoolSettings(
        count=1, spares=0, look_seconds=0.02, retry_seconds=0.01, give_up_after=2
    )
    with (
        EmulatorPool(sdk.emulator, settings) as pool,
        pytest.raises(EmulatorStopped, match=r"2 emulators in a row .* hardware acceleration"),
    ):
        pool.take(40.0)


def test_nobody_waits_for_ever_and_a_seat_must_be_reset_first(sdk: StandInSdk) -> None:
    with EmulatorPool(sdk.emulator, EmulatorPoolSettings(count=1, spares=0)) as pool:
        with pytest.raises(DeviceNotReady):
            EmulatedDevice("seat-0", pool).screen()
        pool.take(40.0)
        with pytest.raises(DeviceTimeout, match="1 in use"):
            pool.take(0.1)
    with pytest.raises(EmulatorStopped, match="closed"):
        pool.take(0.1)


def test_closing_does_not_wait_for_a_boot(sdk: StandInSdk) -> None:
    sdk.plan("never_boots")
    settings = EmulatorPoolSettings(count=1, spares=0)
    with EmulatorPool(lambda: sdk.emulator(boot_seconds=3600.0), settings) as pool:
        wait_for(lambda: len(sdk.starts) == 1)
    assert len(pool.booting) == 0  # after an hour if it had waited


def test_a_pool_of_none_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="count=0"):
        EmulatorPoolSettings(count=0)


@pytest.mark.slow
def test_eight_emulators_at_once(sdk: StandInSdk) -> None:
    settings = EmulatorPoolSettings(count=8, spares=0, look_seconds=0.5, boots_at_once=4)

    def play(pool: EmulatorPool, number: int) -> tuple[str, str]:
        with EmulatedDevice(f"seat-{number}", pool, AT_ONCE_SETTINGS) as device:
            device.reset(number)
            serial = device.serial
            device.perform(OpenApp("Settings"))
            device.reset(number)
            return serial, device.screen().digest

    with EmulatorPool(sdk.emulator, settings) as pool:
        wait_for(lambda: len(pool.ready) == 8, seconds=90.0)
        with ThreadPoolExecutor(8) as threads:
            played = list(threads.map(lambda number: play(pool, number), range(8)))
        assert pool.counts.failed_boots == 0
    assert len({serial for serial, _ in played}) == 8
    assert len({digest for _, digest in played}) == 1
