"""What the repaired A-RIDE is (V-trace(λ)), what it pays for once, its filter of trajectories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from benchmarks.small_world import CORNER, HOME, PAGE, REWARDS
from tests.learning.actor_critic_checks import gradients, moved_policy, old_episodes
from tests.learning.algorithms.algorithm_checks import BACK, DONE, RIGHT, attempt

from distrl.config.training_config import load_config
from distrl.errors import InvalidSetting
from distrl.learning.algorithms.a_ride import ARide, ARideSettings
from distrl.learning.algorithms.vtrace import VTraceActorCritic, VTraceSettings
from distrl.learning.batch import Batch, batch_of
from distrl.learning.gradient_step import GradientStep
from distrl.learning.targets.rewards import RewardSettings
from distrl.records import Ending

GAMMA = 0.9
GOOD = attempt([(CORNER, RIGHT), (PAGE, DONE)], Ending.SUCCESS)
BAD = attempt([(HOME, BACK), (HOME, DONE)], Ending.FAILURE)


def a_ride(**settings: Any) -> Callable[[GradientStep], ARide]:
    plain = {"advantage": "signed", "discount": GAMMA, "entropy_weight": 0.0}
    return lambda step: ARide(step, ARideSettings(**{**plain, **settings}))


def recorded() -> Batch:
    return batch_of(old_episodes(), REWARDS)


@pytest.mark.parametrize("lambda_", [0.0, 0.6, 1.0])
def test_its_critic_is_that_of_v_trace_for_every_lambda(lambda_: float) -> None:
    batch, heads = recorded(), {"value_loss": "cross_entropy", "entropy_weight": 0.0}
    settings = VTraceSettings(discount=GAMMA, vtrace_lambda=lambda_, **heads)  # type: ignore[arg-type]
    theirs = gradients(lambda step: VTraceActorCritic(step, settings), batch)
    ours = gradients(a_ride(retrace_lambda=lambda_), batch)
    # One head: with two, targets are made from the least of them, and both go there.
    lowest = moved_policy().value_table.argmin(1, keepdim=True)
    torch.testing.assert_close(
        ours["values"].gather(1, lowest), theirs["values"].gather(1, lowest), atol=1e-6, rtol=0.0
    )
    printed = gradients(a_ride(retrace_lambda=lambda_, as_printed=True), batch)
    assert float((printed["values"] - theirs["values"]).abs().max()) > 1e-3


def test_with_lambda_one_its_policy_moves_as_that_of_impala() -> None:
    batch = recorded()
    settings = VTraceSettings(discount=GAMMA, entropy_weight=0.0)
    theirs = gradients(lambda step: VTraceActorCritic(step, settings), batch)["policy"]
    ours = gradients(a_ride(retrace_lambda=1.0), batch)["policy"]
    torch.testing.assert_close(ours, theirs, atol=1e-7, rtol=0.0)
    printed = gradients(a_ride(retrace_lambda=1.0, as_printed=True), batch)["policy"]
    assert float((printed - theirs).abs().max()) > 1e-3


def test_an_answer_that_cannot_be_read_is_paid_for_once() -> None:
    assert ARideSettings().invalid_weight == 0.0 < RewardSettings().invalid_penalty
    with pytest.raises(InvalidSetting, match="paid for twice: give 0 for one of them"):
        load_config(None, ["learning.a_ride.invalid_weight=0.1"])
    words = ["learning.a_ride.invalid_weight=0.1", "learning.learner.rewards.invalid_penalty=0"]
    load_config(None, words)
    load_config(None, ["learning.a_ride.invalid_weight=0.1", "learning.algorithm=ppo"])


def test_the_filter_of_trajectories_keeps_the_policy_to_surprises() -> None:
    data = batch_of([GOOD, BAD], REWARDS)  # both were thought even: the success is the surprise
    everything = gradients(a_ride(), data)
    half = gradients(a_ride(trajectory_share=0.5), data)
    alone = gradients(a_ride(), batch_of([GOOD], REWARDS))["policy"] * len(GOOD.decisions)
    turns = len(GOOD.decisions) + len(BAD.decisions)
    torch.testing.assert_close(half["policy"], alone / turns, atol=1e-7, rtol=0.0)
    assert not torch.allclose(half["policy"], everything["policy"])
    torch.testing.assert_close(half["values"], everything["values"])  # the critic learns from all
    policy = moved_policy()
    a_ride(trajectory_share=0.5)(GradientStep(policy)).update(data)
    learned = policy.instruction_table.grad
    assert learned is not None
    # Both are attempts at one task that was thought even: (½ − 1)/2 + ½/2.
    assert float(learned.sum()) == pytest.approx(0.0, abs=1e-6)
