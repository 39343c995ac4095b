"""A device's work is timed, also while it goes on, and is otherwise the device's own."""

from __future__ import annotations

import threading

import pytest
from tests.episodes.made_up_collectors import GatedPhone, ManualClock, wait_until

from distrl.episodes.measured_device import MeasuredDevice
from distrl.errors import DeviceDisconnected
from distrl.records import Action, Screen, Wait
from phonesim.faults import NO_FAULTS, Faults
from phonesim.latency import EVENT_DRIVEN
from phonesim.simulated_device import SimulatedDevice


class TimedPhone(SimulatedDevice):
    """A phone that takes 2 s for a reset and 3 s for an action, also for one that fails."""

    def __init__(self, clock: ManualClock, faults: Faults = NO_FAULTS) -> None:
        super().__init__("a", latency=EVENT_DRIVEN, faults=faults)
        self._manual = clock

    def reset(self, seed: int) -> None:
        self._manual.advance(2.0)
        super().reset(seed)

    def perform(self, action: Action) -> Screen:
        self._manual.advance(3.0)
        return super().perform(action)


def test_reset_and_action_are_timed_and_a_failing_one_as_well() -> None:
    clock = ManualClock()
    device = MeasuredDevice(TimedPhone(clock, Faults(schedule={2: "disconnect"})), clock)
    assert device.spent() == {"reset": 0.0, "act": 0.0}
    device.reset(0)
    device.perform(Wait(0.0))
    assert device.spent() == {"reset": 2.0, "act": 3.0}
    clock.advance(50.0)  # between two calls it does not work
    with pytest.raises(DeviceDisconnected):
        device.perform(Wait(0.0))
    assert device.spent() == {"reset": 2.0, "act": 6.0}
    assert device.name == "a"
    assert device.seconds == device.device.seconds > 0.0


def test_work_in_progress_counts_up_to_now() -> None:
    clock, phone = ManualClock(), GatedPhone("a")
    device = MeasuredDevice(phone, clock)
    thread = threading.Thread(target=device.reset, args=[0])
    thread.start()
    wait_until(lambda: phone.at_work)
    clock.advance(1.5)
    assert device.spent() == {"reset": 1.5, "act": 0.0}
    clock.advance(1.0)
    phone.open_gate()
    thread.join(60.0)
    clock.advance(9.0)
    assert device.spent() == {"reset": 2.5, "act": 0.0}


def test_it_is_the_same_phone() -> None:
    with MeasuredDevice(SimulatedDevice("a")) as device:
        device.reset(3)
        plain = SimulatedDevice("b")
        plain.reset(3)
        assert device.screen().digest == plain.screen().digest
        assert device.elements() == plain.elements()
