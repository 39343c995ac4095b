"""Counting episodes: what counts, and how sure one may be."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from distrl.episodes.evaluation import play
from distrl.episodes.outcome import (
    Outcome,
    PairedGain,
    SuccessRate,
    endings,
    outcome_of,
    paired_gain,
    success_rate,
)
from distrl.records import Decision, Done, Ending, Observation, Unreadable
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.task_sets import load_task

TASK, _ = load_task("notes.create/test/1")


def outcome(ending: Ending) -> Outcome:
    return Outcome(TASK, ending, 3, "")


class Mumbler:
    """Says two things that nobody can read, then that it is done."""

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        done = len(observations[0].past_actions) == 2
        action = Done() if done else Unreadable("?", "no such word")
        return [Decision(action, weight_version=7)]


@pytest.mark.parametrize(
    ("successes", "episodes", "low", "high"),
    [
        # Wilson's interval as worked out in Newcombe (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_wilsons(successes: int, episodes: int, low: float, high: float) -> None:
    assert SuccessRate(successes, episodes).interval == pytest.approx((low, high), abs=5e-5)


def test_what_the_world_broke_counts_neither_for_nor_against() -> None:
    some = [
        outcome(ending)
        for ending in (
            Ending.SUCCESS,
            Ending.STEP_LIMIT,
            Ending.DEVICE_LOST,
            Ending.JUDGE_UNAVAILABLE,
            Ending.APP_CRASH,
        )
    ]
    assert success_rate(some) == SuccessRate(1, 2)
    assert endings(some)[Ending.DEVICE_LOST] == 1


def test_an_outcome_counts_steps_and_what_could_not_be_read() -> None:
    [trajectory] = play([TASK], lambda *_: Mumbler(), [SimulatedDevice("one")])
    found = outcome_of(trajectory)
    assert (found.ending, found.steps, found.unreadable) == (Ending.FAILURE, 3, 2)
    assert found.weight_version == 7
    assert "new Note" in found.reason


def test_a_gain_is_counted_on_the_tasks_that_both_have() -> None:
    before = {"a": True, "b": False, "c": False, "only before": False}
    after = {"a": False, "b": True, "c": True, "only after": True}
    assert paired_gain(before, after) == PairedGain(tasks=3, gained=2, lost=1)
    assert paired_gain({}, after).difference == 0.0


def test_the_interval_of_a_gain_by_hand() -> None:
    # Agresti and Min: n = 10 + 2, gained 6.5, lost 0.5: 0.5 ± 1.96 · sqrt(7 − 36 / 12) / 12
    interval = PairedGain(tasks=10, gained=6, lost=0).interval
    assert interval == pytest.approx((0.5 - 0.32666, 0.5 + 0.32666), abs=1e-4)
    assert PairedGain(tasks=10, gained=6, lost=0).significant
    assert not PairedGain(tasks=10, gained=3, lost=2).significant


def test_the_rate_is_never_outside_its_interval() -> None:
    for episodes in range(1, 200):
        for successes in (0, episodes):
            rate = SuccessRate(successes, episodes)
            low, high = rate.interval
            assert low <= rate.rate <= high
