"""Weights that change within an episode: ratios stay exact, and no version is given twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from benchmarks.tabular_policy import TabularPolicy
from tests.episodes.made_up_collectors import POOL
from tests.episodes.test_collector_lockstep import ANSWERS
from tests.learning.small_circle import SmallCircle

from distrl.episodes.episode import Episode
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.learning.batch import batch_of
from distrl.learning.targets import ratios
from distrl.learning.targets.rewards import RewardSettings
from distrl.records import Trajectory
from distrl.replay.buffer.pacing import Pacing
from distrl.weights.staleness import StalenessLimit, staleness
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge

STEPS = 6


def played_with_two_versions() -> tuple[Trajectory, list[float]]:
    """Half of the steps by one policy, half by the next; and how likely each answer was then."""
    policy = TabularPolicy(256, 3, {k: v for k, v in ANSWERS.items() if k != (2, 0)}, seed=2)
    batcher, device = PolicyBatcher(policy), SimulatedDevice("phone")
    episode = Episode.begin(POOL.task("notes.create", 0), device, FactJudge(device))
    likely = []
    for step in range(STEPS):
        if step == STEPS // 2:
            policy.prefer(policy.state_of(episode.observation), (0,), 1.5)
            policy.load_weights(policy.weights(), 5)
        observation = episode.observation
        [decision] = batcher.decide([observation])
        column = policy.endings.index(decision.token_ids)
        likely.append(float(policy.answer_probabilities()[policy.state_of(observation), column]))
        episode.take(decision)
    return replace(episode.trajectory(), id="mixed"), likely


def test_each_step_is_held_against_the_weights_that_took_it() -> None:
    trajectory, likely = played_with_two_versions()
    assert [each.weight_version for each in trajectory.decisions] == [0, 0, 0, 5, 5, 5]
    batch = batch_of([trajectory], RewardSettings())
    nothing = torch.zeros_like(batch.behaviour_log_probs)  # a policy that finds everything certain
    inverse = ratios.per_turn(nothing, batch.behaviour_log_probs, batch.token_mask)
    assert (1 / inverse[0]).tolist() == pytest.approx(likely, rel=1e-5)


def test_its_age_is_that_of_its_first_decision_and_its_newest_version_is_not_given_again() -> None:
    circle = SmallCircle(
        pacing=Pacing(4.0, minimum_fill=4, tolerance=16.0),
        updates_per_publish=1,
        staleness=StalenessLimit(at_start=1, at_arrival=None),
    )
    made = circle.collect("some", 8)
    circle.arrivals.clear()
    for each in made:
        newest = [replace(d, weight_version=7 if n else 0) for n, d in enumerate(each.decisions)]
        circle.arrivals.append(replace(each, decisions=tuple(newest)))
    assert all(staleness(9, each.weight_version) == 9 for each in circle.arrivals)
    assert any(len(each.decisions) > 1 for each in circle.arrivals)
    circle.learner.step()
    assert circle.versions == [8]
