"""What each phone did since the last report, told from the seconds that it has worked."""

from __future__ import annotations

from dataclasses import replace

from tests.engine.made_up_reports import report

from distrl.engine.run.phone_states import PhoneStates
from distrl.runs.run_status import AWAY, FAILING, WAITS, WORKS


def test_a_phone_whose_seconds_grow_is_at_work() -> None:
    states, first = PhoneStates(), report()
    busy = dict.fromkeys(("phone-10", "phone-2", "phone-1"), 1.0)
    states.signs([replace(first, seconds=1.0, busy=busy)])
    later = replace(
        first,
        seconds=2.0,
        busy=busy | {"phone-1": 1.5},
        quarantined=("phone-10",),
        troubles={"phone-10": "DeviceTimeout: silent"},
    )
    assert states.signs([later]) == WORKS + WAITS + AWAY
    assert states.signs([later]) == WORKS + WAITS + AWAY  # the same report once more
    failing = {"phone-1": "DeviceTimeout: silent"}
    last = replace(first, seconds=3.0, busy={"phone-1": 1.6}, quarantined=(), troubles=failing)
    assert states.signs([last]) == FAILING + WAITS + AWAY


def test_before_the_first_report_there_is_nothing() -> None:
    assert PhoneStates().signs([]) == ""
