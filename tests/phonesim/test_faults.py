"""Faults come as often as asked and when scheduled, and the same seed brings the same ones."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest

from distrl.errors import InvalidSetting
from phonesim.faults import KINDS, NO_FAULTS, FaultKind, Faults, FaultStream
from phonesim.latency import LogNormal

ACTIONS = 40_000


def struck(stream: FaultStream, actions: int) -> list[list[FaultKind]]:
    """Which faults strike each of so many actions, if every one of them can."""
    happened = []
    for _ in range(actions):
        stream.next_action()
        happened.append([kind for kind in KINDS if stream.strikes(kind)])
    return happened


def test_each_kind_strikes_its_own_share_of_actions() -> None:
    rates: dict[str, Any] = {kind: 0.01 * (number + 1) for number, kind in enumerate(KINDS)}
    happened = struck(FaultStream(Faults(**rates), "one", 1), ACTIONS)
    counts = Counter[str](kind for kinds in happened for kind in kinds)
    for kind, rate in rates.items():
        # four standard deviations of a binomial share
        assert abs(counts[kind] / ACTIONS - rate) < 4 * math.sqrt(rate * (1 - rate) / ACTIONS)
    assert max(map(len, happened)) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_certain_fault_strikes_every_action(kind: FaultKind) -> None:
    always: dict[str, Any] = {kind: 1.0}
    assert struck(FaultStream(Faults(**always), "one", 1), 50) == [[kind]] * 50


def test_without_faults_nothing_strikes() -> None:
    assert struck(FaultStream(NO_FAULTS, "one", 1), 1000) == [[]] * 1000


@pytest.mark.parametrize("kind", KINDS)
def test_a_scheduled_fault_strikes_its_action_and_no_other(kind: FaultKind) -> None:
    happened = struck(FaultStream(Faults(schedule={3: kind}), "one", 1), 6)
    assert happened == [[], [], [kind], [], [], []]


def test_a_fault_strikes_once() -> None:
    stream = FaultStream(Faults(slow_page=1.0, schedule={1: "freeze"}), "one", 1)
    stream.next_action()
    assert stream.strikes("freeze")
    assert not stream.strikes("freeze")
    assert stream.strikes("slow_page")
    assert not stream.strikes("slow_page")


def test_a_scheduled_fault_waits_and_a_drawn_one_passes_by() -> None:
    scheduled = FaultStream(Faults(schedule={1: "stuck_keyboard"}), "one", 1)
    for _ in range(4):
        scheduled.next_action()  # nothing is typed, so nobody asks
    assert scheduled.strikes("stuck_keyboard")
    rare = FaultStream(Faults(stuck_keyboard=0.1), "one", 1)
    asked = []
    for _ in range(ACTIONS):
        rare.next_action()
        rare.next_action()  # only every second action types
        asked.append(rare.strikes("stuck_keyboard"))
    assert sum(asked) / ACTIONS == pytest.approx(0.1, rel=0.06)


def test_the_same_seed_brings_the_same_faults() -> None:
    faults = Faults(freeze=0.1, disconnect=0.1, slow_page=0.1)

    def faults_of(device: str, seed: int, attempt: int = 0) -> list[list[FaultKind]]:
        return struck(FaultStream(faults, device, seed, attempt), 50)

    assert faults_of("one", 1) == faults_of("one", 1)
    assert faults_of("one", 1) != faults_of("two", 1)
    assert faults_of("one", 1) != faults_of("one", 2)
    assert faults_of("one", 1) != faults_of("one", 1, attempt=1)


def test_how_long_a_fault_lasts_follows_its_setting() -> None:
    faults = Faults(page_takes=LogNormal(7.0), blank_lasts=LogNormal(9.0))
    stream = FaultStream(faults, "one", 1)
    assert (stream.page_seconds(), stream.blank_seconds()) == (7.0, 9.0)


def test_a_schedule_is_copied() -> None:
    schedule: dict[int, FaultKind] = {2: "freeze"}
    faults = Faults(schedule=schedule)
    schedule[1] = "disconnect"
    assert faults.schedule == {2: "freeze"}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"freeze": -0.1}, "freeze=-0.1"),
        ({"disconnect": 1.1}, "disconnect=1.1"),
        ({"slow_page": math.nan}, "slow_page=nan"),
        ({"freeze": 0.6, "disconnect": 0.6}, "add up to 1.2"),
        ({"schedule": {0: "freeze"}}, "counted from 1"),
        ({"schedule": {True: "freeze"}}, "counted from 1"),
        ({"schedule": {1: "flood"}}, "there are freeze, disconnect"),
        ({"step_deadline": -1.0}, "step_deadline=-1.0"),
        ({"page_deadline": math.inf}, "page_deadline=inf"),
        ({"blank_retry_seconds": math.nan}, "blank_retry_seconds=nan"),
        ({"blank_retries": -1}, "blank_retries=-1"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidSetting, match=says):
        Faults(**settings)  # type: ignore[arg-type]
