"""Forks on errands: equal decisions, and figures that are right."""

from __future__ import annotations

import pytest
from benchmarks.errand_phone import ErrandPhone
from benchmarks.forks import ROUND, Arm, Arrived, compared, decisions_to, run

from distrl.devices.device import Forkable


def test_decisions_are_counted_when_success_stays() -> None:
    success = [0.1, 0.7, 0.5, 0.61, 0.65, 0.6, 0.4]
    assert decisions_to(success) == 3 * ROUND
    assert decisions_to(success, target=0.62) is None
    assert decisions_to([0.9, 0.9, 0.9]) == ROUND


def test_batches_have_about_as_many_turns_with_forks_as_without() -> None:
    """Half of a fork is its parent's: of 4 trajectories 1 + 3/2 are left to train on."""
    assert [Arm("filtered", forks).batch for forks in (0, 1, 3)] == [16, 21, 26]


def test_a_gain_is_one_of_pairs() -> None:
    slow, quick = [0.1] * 6 + [0.7] * 3, [0.1] * 3 + [0.7] * 6
    found = compared(Arm("signed", 1), [quick, quick], [slow, slow])
    assert found["signed_forks_1_speedup"] == pytest.approx(2.0)
    assert found["signed_forks_1_mean_gain"] == pytest.approx(0.2)


def test_a_short_run_plays_forks_and_counts_their_own_steps() -> None:
    assert isinstance(ErrandPhone("phone"), Forkable)
    success = run(Arm("filtered", 2), seed=0, decisions=2 * ROUND)
    assert len(success) == 3
    assert success[0] == pytest.approx(0.14, abs=0.02)
    assert Arrived().decisions == 0
