"""Virtual time is exact and free; scaled time is real time, measured."""

from __future__ import annotations

import math
import time

import pytest

from distrl.errors import InvalidSetting
from phonesim.clock import RealClock, ScaledClock, VirtualClock


def test_virtual_time_is_what_was_asked_and_passes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it took real time"))
    clock = VirtualClock()
    assert [clock.sleep(3600.0), clock.sleep(0.25), clock.sleep(0.0)] == [3600.0, 0.25, 0.0]
    assert clock.now == 3600.25


def test_scaled_time_takes_its_share_of_real_time() -> None:
    clock, begun = ScaledClock(speed=100.0), time.monotonic()
    slept = clock.sleep(3.0)
    real = time.monotonic() - begun
    assert real >= 0.03
    assert 3.0 <= slept <= real * 100.0
    assert slept <= clock.now


def test_scaled_time_passes_without_being_asked() -> None:
    clock = ScaledClock(speed=1000.0)
    time.sleep(0.005)
    assert clock.now >= 5.0


def test_real_time_has_speed_one() -> None:
    clock, begun = RealClock(), time.monotonic()
    slept = clock.sleep(0.02)
    assert 0.02 <= slept <= time.monotonic() - begun


@pytest.mark.parametrize("speed", [0.0, -1.0, math.nan, math.inf])
def test_a_clock_must_run_forwards(speed: float) -> None:
    with pytest.raises(InvalidSetting, match="more than 0"):
        ScaledClock(speed)


@pytest.mark.parametrize("seconds", [-0.1, math.nan, math.inf])
@pytest.mark.parametrize("clock", [VirtualClock(), ScaledClock(100.0)])
def test_no_clock_sleeps_backwards_or_for_ever(clock: VirtualClock, seconds: float) -> None:
    with pytest.raises(ValueError, match="cannot sleep"):
        clock.sleep(seconds)
