"""Sixteen phones behind one adb server, used at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.devices.adb.served_phones import served_phones

from distrl.records import Back, OpenApp, Swipe
from phonesim.simulated_device import SimulatedDevice

PHONES = 16
STEPS = (OpenApp("Settings"), Swipe(0.5, 0.8, 0.5, 0.3), Back(), OpenApp("Notes"))


def alone(seed: int) -> list[str]:
    device = SimulatedDevice("twin")
    device.reset(seed)
    return [device.perform(action).digest for action in STEPS]


@pytest.mark.slow
def test_sixteen_phones_at_once_do_what_each_does_alone() -> None:
    with served_phones(PHONES) as phones:

        def play(number: int) -> list[str]:
            with phones.device(number) as device:
                device.reset(number)
                return [device.perform(action).digest for action in STEPS]

        with ThreadPoolExecutor(PHONES) as threads:
            together = list(threads.map(play, range(PHONES)))
    assert together == [alone(seed) for seed in range(PHONES)]
