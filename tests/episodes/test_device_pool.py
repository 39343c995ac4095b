"""Which devices are ready: faults in a row, quarantine that doubles, spares last."""

from __future__ import annotations

import math

import pytest

from distrl.episodes.device_pool import DevicePool, HealthSettings
from distrl.errors import InvalidSetting
from phonesim.simulated_device import SimulatedDevice

SETTINGS = HealthSettings(3, quarantine_seconds=10.0, max_quarantine_seconds=25.0)


def device_pool() -> DevicePool[SimulatedDevice]:
    devices = [SimulatedDevice(name) for name in ("a", "b", "spare")]
    return DevicePool(devices[:2], devices[2:], SETTINGS)


def fail(on: DevicePool[SimulatedDevice], name: str, now: float, times: int = 1) -> None:
    for _ in range(times):
        on.take(name)
        on.give_back(name, now, fault=True)


def test_devices_come_before_spares_and_whoever_plays_is_not_free() -> None:
    devices = device_pool()
    assert (devices.slots, len(devices)) == (2, 3)
    assert devices.ready(0.0) == ["a", "b", "spare"]
    assert devices.take("a")[0].name == "a"
    assert devices.ready(0.0) == ["b", "spare"]
    devices.give_back("a", 0.0, fault=False)
    assert devices.ready(0.0) == ["a", "b", "spare"]


def test_faults_in_a_row_send_a_device_into_quarantine_and_time_brings_it_back() -> None:
    devices = device_pool()
    fail(devices, "a", 0.0, times=2)
    assert devices.ready(0.0) == ["a", "b", "spare"]
    fail(devices, "a", 5.0)
    assert devices.ready(14.9) == ["b", "spare"]
    assert devices.quarantined(14.9) == ("a",)
    assert devices.next_release(14.9) == 15.0
    assert devices.ready(15.0) == ["a", "b", "spare"]
    assert devices.quarantined(15.0) == ()
    assert devices.next_release(15.0) is None
    assert devices.quarantines == 1


def test_the_first_fault_after_a_quarantine_is_enough_and_the_next_is_twice_as_long() -> None:
    devices = device_pool()
    fail(devices, "a", 0.0, times=3)
    fail(devices, "a", 10.0)
    assert devices.next_release(10.0) == 30.0
    fail(devices, "a", 30.0)
    assert devices.next_release(30.0) == 55.0  # no longer than the longest
    assert devices.quarantines == 3


def test_an_episode_without_a_fault_clears_a_device_and_others_say_nothing() -> None:
    devices = device_pool()
    fail(devices, "a", 0.0, times=2)
    devices.take("a")
    devices.give_back("a", 0.0, fault=None)
    fail(devices, "a", 0.0)
    assert devices.quarantined(0.0) == ("a",)
    devices.take("a")
    devices.give_back("a", 20.0, fault=False)
    fail(devices, "a", 20.0, times=2)
    assert devices.quarantined(20.0) == ()


def test_a_device_that_never_recovers_is_tried_at_the_longest_interval_for_ever() -> None:
    devices = device_pool()
    now = 0.0
    fail(devices, "a", now, times=2)
    for _ in range(2000):
        fail(devices, "a", now)
        now = devices.next_release(now) or math.nan
    assert now == 10.0 + 20.0 + 1998 * 25.0


@pytest.mark.parametrize(
    ("after", "first", "longest"),
    [(0, 1.0, 2.0), (1, 3.0, 2.0), (1, -1.0, 2.0), (1, 1.0, math.inf)],
)
def test_settings_out_of_range_are_refused(after: int, first: float, longest: float) -> None:
    with pytest.raises(InvalidSetting):
        HealthSettings(after, first, longest)


def test_a_pool_needs_devices_with_names_of_their_own() -> None:
    with pytest.raises(InvalidSetting, match="0 devices"):
        DevicePool([])
    with pytest.raises(InvalidSetting, match="called a, a"):
        DevicePool([SimulatedDevice("a")], [SimulatedDevice("a")])
