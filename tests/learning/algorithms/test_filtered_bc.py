"""Filtered behaviour cloning: successes are imitated, nothing else moves the policy."""

from __future__ import annotations

import pytest
import torch
from benchmarks.small_world import CORNER, HOME, PAGE, new_policy
from tests.learning.algorithms.algorithm_checks import (
    BACK,
    DONE,
    LEFT,
    RIGHT,
    attempt,
    batch,
    check_learns,
    check_micro_batches,
    check_padding,
    check_policy_stays,
    check_report,
    probability,
    updated,
)

from distrl.errors import InvalidSetting
from distrl.learning.algorithms.filtered_bc import FilteredBc, FilteredBcSettings, kept_successes
from distrl.learning.batch import batch_of
from distrl.learning.gradient_step import GradientStep
from distrl.learning.targets.rewards import RewardSettings
from distrl.records import Ending

SHORT = attempt([(CORNER, RIGHT), (PAGE, DONE)], Ending.SUCCESS)
LONG = attempt([(CORNER, LEFT), (HOME, LEFT), (CORNER, RIGHT), (PAGE, DONE)], Ending.SUCCESS)
WRONG = attempt([(HOME, BACK), (HOME, DONE)], Ending.FAILURE)


@pytest.mark.seeds(1, 3)
def test_it_learns_from_its_own_data(seed: int) -> None:
    check_learns(FilteredBc, seed, to=0.8)


def test_micro_batches_do_not_matter() -> None:
    check_micro_batches(FilteredBc)


def test_padding_does_not_matter() -> None:
    check_padding(FilteredBc)


def test_the_policy_stays_when_told_to() -> None:
    check_policy_stays(FilteredBc)


def test_the_report_is_shaped_like_the_batch() -> None:
    check_report(FilteredBc)


def test_what_a_success_did_becomes_likelier_and_a_failure_moves_nothing() -> None:
    policy, uniform = updated(FilteredBc, batch(SHORT, WRONG)), new_policy()
    assert probability(policy, CORNER, RIGHT) > probability(uniform, CORNER, RIGHT)
    assert probability(policy, PAGE, DONE) > probability(uniform, PAGE, DONE)
    assert torch.equal(policy.logits[HOME], uniform.logits[HOME])


def test_the_gradient_is_that_of_the_likelihood_of_the_kept_tokens() -> None:
    policy = new_policy()
    FilteredBc(GradientStep(policy)).update(batch(SHORT, WRONG))
    # Four kept tokens, all of probability 1/3 before: −(1 − 1/3)/4 for each, before clipping at 1.
    gradient = policy.logits.grad
    assert gradient is not None
    assert gradient[PAGE, 0, 2].item() == pytest.approx(-(2 / 3) / 4)
    assert gradient[PAGE, 0, 0].item() == pytest.approx((1 / 3) / 4)


def test_without_a_success_nothing_moves_not_even_by_momentum() -> None:
    policy = new_policy()
    algorithm = FilteredBc(GradientStep(policy))
    algorithm.update(batch(SHORT))
    before = policy.weights()["logits"]
    report = algorithm.update(batch(WRONG, WRONG))
    assert torch.equal(policy.weights()["logits"], before)
    assert report.metrics["kept_share"] == 0.0
    assert report.losses["policy"] == 0.0


def test_the_best_share_of_the_successes_is_kept_whatever_else_is_there() -> None:
    costly = RewardSettings(step_cost=0.01, repetition_penalty=0.0)
    data = batch_of([LONG, WRONG, SHORT, WRONG, WRONG, SHORT, LONG], costly)
    assert kept_successes(data, 1.0).tolist() == [1, 0, 1, 0, 0, 1, 1]
    assert kept_successes(data, 0.5).tolist() == [0, 0, 1, 0, 0, 1, 0]
    # One of four asked for: both short ones stand first, and none of them before the other.
    assert kept_successes(data, 0.25).tolist() == [0, 0, 1, 0, 0, 1, 0]


def test_a_failure_is_not_kept_even_if_a_success_cost_as_much() -> None:
    costly = RewardSettings(step_cost=0.5, repetition_penalty=0.0)
    data = batch_of([LONG, WRONG], costly)
    assert data.rewards.sum(1).tolist() == [-1.0, -1.0]
    assert kept_successes(data, 1.0).tolist() == [1, 0]


@pytest.mark.parametrize("share", [0.0, 1.1, -1.0, float("nan")])
def test_a_share_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(InvalidSetting, match="share"):
        FilteredBcSettings(share=share)
