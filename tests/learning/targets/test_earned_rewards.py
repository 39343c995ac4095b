"""Rewards are worked out once for each slot, and never mistaken for those of another."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from tests.learning.small_circle import SmallCircle
from tests.replay.made_up_replays import filled
from tests.replay.made_up_trajectories import trajectory

from distrl.learning.batch import EarnedRewards
from distrl.learning.targets.rewards import RewardSettings, step_rewards
from distrl.records import Ending
from distrl.replay.buffer.entries import Entry

COSTS = RewardSettings(step_cost=0.25)


def entry(slot: int, steps: int, ending: Ending = Ending.SUCCESS) -> Entry:
    return Entry(slot, trajectory(f"{slot}/{steps}", range(steps + 1), ending), 1.0, 0)


def test_they_are_those_of_the_trajectory_and_worked_out_once() -> None:
    memory = EarnedRewards(COSTS, most=10)
    entries = [entry(3, 2), entry(4, 3, Ending.FAILURE), entry(3, 2)]
    earned = memory.of(entries)
    for each, found in zip(entries, earned, strict=True):
        assert np.array_equal(found, step_rewards(each.trajectory, COSTS).total)
    assert earned[0] is earned[2]
    with pytest.raises(ValueError, match="read-only"):
        earned[0][0] = 9.0


def test_those_that_were_not_asked_for_longest_are_forgotten_first() -> None:
    memory = EarnedRewards(COSTS, most=2)
    [one] = memory.of([entry(1, 1)])
    [two] = memory.of([entry(2, 1)])
    assert memory.of([entry(1, 1)]) == [one]
    memory.of([entry(3, 1)])
    assert len(memory) == 2
    assert memory.of([entry(1, 1)])[0] is one
    assert memory.of([entry(2, 1)])[0] is not two


def test_a_ring_that_goes_round_gives_every_newcomer_its_own() -> None:
    replay, memory = filled(0, capacity=3), EarnedRewards(COSTS, most=3)
    for number in range(12):
        replay.insert(trajectory(str(number), range(2 + number % 4)))
        entries = replay.next_slice(3)
        lengths = [len(each.trajectory.decisions) for each in entries]
        assert [len(found) for found in memory.of(entries)] == lengths


def test_a_learner_that_continues_elsewhere_remembers_nothing() -> None:
    """Slots of a replay that was filled anew have other trajectories."""
    circle, other = SmallCircle(seed=1), SmallCircle(seed=1)
    circle.rounds(0, 8)
    other.collect("others", 30)
    other.learner.step()
    assert len(other.learner._batches._earned)
    state = copy.deepcopy(circle.learner.state_dict())  # two learners, two sets of tensors
    other.learner.load_state(state, circle.kept.get)
    other.arrivals.clear()
    other.collector.load_weights(circle.collector.weights(), circle.collector.weight_version)
    assert other.rounds(8, 12) == circle.rounds(8, 12)
