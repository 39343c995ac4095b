"""The part of the `Device` contract that real devices share."""

from __future__ import annotations

import pytest

from distrl.devices.operating_state import OperatingState
from distrl.errors import ActionFailed, DeviceNotReady, DeviceTimeout


def test_a_failure_is_raised_again_until_a_reset_and_time_is_counted() -> None:
    state = OperatingState("phone-1")
    with pytest.raises(DeviceNotReady, match="device phone-1: call reset"):
        state.check()
    state.begin_reset()
    with state.at_work():
        state.ready = True
    state.check()
    spent = state.seconds
    with pytest.raises(DeviceTimeout), state.at_work():
        raise DeviceTimeout("it hangs")
    assert state.seconds > spent > 0.0
    with pytest.raises(DeviceTimeout, match=r"it hangs \(it has failed and was not reset since\)"):
        state.check()
    state.begin_reset()
    assert (state.seconds, state.failure) == (0.0, None)


def test_an_action_that_cannot_be_carried_out_leaves_the_device_usable() -> None:
    state = OperatingState("phone-1", ready=True)
    with pytest.raises(ActionFailed), state.at_work():
        raise ActionFailed("no such app")
    state.check()
    state.close()
    with pytest.raises(DeviceNotReady):
        state.check()
