"""Group-relative learning: only differences between attempts at one task teach anything."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import torch
from benchmarks.small_world import CORNER, HOME, PAGE, new_policy, old_policy
from tests.learning.algorithms.algorithm_checks import (
    BACK,
    DONE,
    RIGHT,
    WORLD,
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
from distrl.learning.algorithms.grpo import Grpo, GrpoSettings
from distrl.learning.batch import batch_of
from distrl.learning.gradient_step import GradientStep
from distrl.learning.targets.rewards import RewardSettings
from distrl.records import Ending

GOOD = attempt([(CORNER, RIGHT), (PAGE, DONE)], Ending.SUCCESS)
BAD = attempt([(HOME, BACK), (HOME, DONE)], Ending.FAILURE)
ELSEWHERE = WORLD.tasks[1]
TIED = partial(Grpo, settings=GrpoSettings(kl_weight=0.1), reference=old_policy(1))
BY_RETURN = partial(Grpo, settings=GrpoSettings(compared="return"))
EACH = pytest.mark.parametrize("make", [Grpo, TIED, BY_RETURN], ids=["free", "tied", "by_return"])


@pytest.mark.seeds(1, 3)
def test_it_learns_from_its_own_data(seed: int) -> None:
    check_learns(Grpo, seed, to=0.8)


@EACH
def test_micro_batches_do_not_matter(make: partial[Grpo]) -> None:
    check_micro_batches(make)


@EACH
def test_padding_does_not_matter(make: partial[Grpo]) -> None:
    check_padding(make)


@EACH
def test_the_policy_stays_when_told_to(make: partial[Grpo]) -> None:
    check_policy_stays(make)


@EACH
def test_the_report_is_shaped_like_the_batch(make: partial[Grpo]) -> None:
    check_report(make)


def test_the_better_attempt_becomes_likelier_and_the_worse_one_rarer() -> None:
    policy = updated(Grpo, batch(GOOD, BAD))
    assert probability(policy, PAGE, DONE) > 1 / 9 + 1e-4
    assert probability(policy, HOME, DONE) < 1 / 9 - 1e-4


def test_every_step_of_an_attempt_has_the_advantage_of_the_whole() -> None:
    longer = attempt([(HOME, BACK), (CORNER, RIGHT), (PAGE, DONE)], Ending.SUCCESS)
    report = Grpo(GradientStep(new_policy())).update(batch(longer, BAD, BAD, GOOD))
    assert report.advantages.tolist() == [[1, 1, 1], [-1, -1, 0], [-1, -1, 0], [1, 1, 0]]
    assert report.metrics["teaching_share"] == 1.0


def test_attempts_that_stand_alone_or_all_ended_alike_leave_the_policy_as_it_is() -> None:
    policy = new_policy()
    algorithm = Grpo(GradientStep(policy))
    alone = batch(GOOD, replace(BAD, task=ELSEWHERE))
    alike = batch(GOOD, GOOD, replace(BAD, task=ELSEWHERE), replace(BAD, task=ELSEWHERE))
    for data in (alone, alike):
        report = algorithm.update(data)
        assert report.gradient_norms["policy"] == 0.0
        assert report.metrics["teaching_share"] == 0.0
        assert torch.equal(policy.logits, new_policy().logits)
    algorithm.update(batch(GOOD, BAD))
    moved = policy.weights()["logits"]
    algorithm.update(alone)  # and the momentum of the optimiser does not move it either
    assert torch.equal(policy.logits, moved)


def test_groups_are_tasks_and_not_neighbours() -> None:
    away = replace(GOOD, task=ELSEWHERE), replace(BAD, task=ELSEWHERE)
    algorithm = Grpo(GradientStep(new_policy()))
    data = batch(GOOD, away[0], BAD, GOOD, away[1], GOOD)
    # Three of four against one of two.
    third = 3**-0.5
    expected = [third, 1.0, -3 * third, third, -1.0, third]
    assert algorithm.advantages(data).tolist() == pytest.approx(expected, abs=1e-6)


def test_returns_can_be_compared_in_place_of_success() -> None:
    longer = attempt([(HOME, BACK), (CORNER, RIGHT), (PAGE, DONE)], Ending.SUCCESS)
    data = batch_of([GOOD, longer], RewardSettings(step_cost=0.1))
    step = GradientStep(new_policy())
    assert Grpo(step).advantages(data).tolist() == [0.0, 0.0]
    by_return = GrpoSettings(compared="return", divide_by_deviation=False)
    advantages = Grpo(step, by_return).advantages(data)
    assert advantages.tolist() == pytest.approx([0.05, -0.05], abs=1e-6)


def test_a_reference_pulls_the_policy_back() -> None:
    moved = new_policy()
    moved.prefer(PAGE, DONE, 2.0)
    free, tied = new_policy(), new_policy()
    for policy in (free, tied):
        policy.prefer(PAGE, DONE, 2.0)
    data = batch(GOOD, BAD)
    settings = GrpoSettings(kl_weight=100.0)
    updated(Grpo, data, free)
    updated(partial(Grpo, settings=settings, reference=new_policy()), data, tied)
    assert probability(tied, PAGE, DONE) < probability(moved, PAGE, DONE)
    assert probability(tied, PAGE, DONE) < probability(free, PAGE, DONE)


def test_the_reference_pulls_also_where_all_attempts_ended_alike() -> None:
    policy = new_policy()
    policy.prefer(PAGE, DONE, 2.0)
    before = probability(policy, PAGE, DONE)
    tied = partial(Grpo, settings=GrpoSettings(kl_weight=100.0), reference=new_policy())
    assert probability(updated(tied, batch(GOOD, GOOD), policy), PAGE, DONE) < before


def test_a_tie_without_a_reference_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="reference"):
        Grpo(GradientStep(new_policy()), GrpoSettings(kl_weight=0.1))


@pytest.mark.parametrize("settings", [{"epochs": 0}, {"kl_weight": -1.0}], ids=str)
def test_settings_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InvalidSetting, match=next(iter(settings))):
        GrpoSettings(**settings)  # type: ignore[arg-type]
