"""A device's work is timed, also while it goes on, and is otherwise the device's own."""

from __future__ import annotations

import threading

import pytest
from tests.episodes.made_up_collectors import STEP, phone, wait_until

from distrl.episodes.measured_device import MeasuredDevice
from distrl.errors import DeviceDisconnected
from distrl.records import Wait
from phonesim.faults import Faults
from phonesim.simulated_device import SimulatedDevice


def test_reset_and_action_are_timed_and_a_failing_one_as_well() -> None:
    faults = Faults(schedule={2: "disconnect"})
    device = MeasuredDevice(phone("a", slowness=3.0, faults=faults))
    assert device.spent() == {"reset": 0.0, "act": 0.0}
    device.reset(0)
    device.perform(Wait(0.0))
    after = device.spent()
    assert after["reset"] >= 3 * STEP
    assert after["act"] >= 3 * STEP
    with pytest.raises(DeviceDisconnected):
        device.perform(Wait(0.0))
    assert device.spent()["act"] > after["act"]
    assert device.name == "a"
    assert device.seconds == device.device.seconds > 0.0


def test_work_under_way_counts_up_to_now() -> None:
    device = MeasuredDevice(phone("a", slowness=25.0, reset=0.0))
    device.reset(0)
    thread = threading.Thread(target=device.perform, args=[Wait(0.0)])
    thread.start()
    wait_until(lambda: device.spent()["act"] > 0.1)
    assert thread.is_alive()
    thread.join(20.0)
    assert device.spent()["act"] >= 0.5


def test_it_is_the_same_phone() -> None:
    with MeasuredDevice(SimulatedDevice("a")) as device:
        device.reset(3)
        plain = SimulatedDevice("b")
        plain.reset(3)
        assert device.screen().digest == plain.screen().digest
        assert device.elements() == plain.elements()
