"""DigiRL: the two filters keep what they should, and the critics behind them learn."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from benchmarks.small_world import CORNER, DEAD_END, HOME, PAGE, SHORTCUT, new_policy
from benchmarks.tabular_policy import TabularPolicy
from tests.learning.algorithms.algorithm_checks import (
    BACK,
    DONE,
    LEFT,
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
    recorded,
    updated,
)

from distrl.errors import InvalidSetting
from distrl.learning.algorithms.digirl import Digirl, DigirlSettings
from distrl.learning.algorithms.trajectory_filter import better_than_promised
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.records import Ending

HARD, EASY = WORLD.tasks[0], WORLD.tasks[3]
GOOD = attempt([(CORNER, RIGHT), (PAGE, DONE)], Ending.SUCCESS)
BAD = attempt([(HOME, BACK), (HOME, DONE)], Ending.FAILURE)


def _with_values(values: dict[int, float]) -> TabularPolicy:
    """A uniform policy whose critic is sure of what some states are worth."""
    policy = new_policy()
    with torch.no_grad():
        policy.value_table.fill_(torch.logit(torch.tensor(0.5)))
        for state, value in values.items():
            policy.value_table[state] = torch.logit(torch.tensor(value))
    return policy


@pytest.mark.seeds(1, 3)
def test_it_learns_from_its_own_data(seed: int) -> None:
    check_learns(Digirl, seed, to=0.7)


def test_micro_batches_do_not_matter() -> None:
    check_micro_batches(Digirl)


def test_padding_does_not_matter() -> None:
    check_padding(Digirl)


def test_the_policy_stays_when_told_to() -> None:
    check_policy_stays(Digirl)


def test_the_report_is_shaped_like_the_batch() -> None:
    check_report(Digirl)


def test_a_success_is_imitated_near_its_end() -> None:
    policy, uniform = updated(Digirl, batch(GOOD, BAD)), new_policy()
    assert probability(policy, PAGE, DONE) > probability(uniform, PAGE, DONE)
    assert torch.equal(policy.logits[HOME], uniform.logits[HOME])


def test_a_step_that_helped_is_imitated_even_if_the_attempt_failed() -> None:
    # Left at home raised the value from 0.2 to 0.9; right at the shortcut threw it away.
    policy = _with_values({HOME: 0.2, SHORTCUT: 0.9, DEAD_END: 0.05})
    lost = attempt([(HOME, LEFT), (SHORTCUT, RIGHT), (DEAD_END, DONE)], Ending.FAILURE)
    report = Digirl(GradientStep(policy)).update(batch(lost))
    assert report.advantages[0].tolist() == pytest.approx([0.7, -0.85, -0.05], abs=1e-6)
    assert probability(policy, HOME, LEFT) > 1 / 9 + 1e-6
    assert torch.equal(policy.logits[SHORTCUT], new_policy().logits[SHORTCUT])
    assert report.metrics["kept_share"] == pytest.approx(1 / 3)


def test_a_step_must_be_worth_more_than_its_share_of_the_task() -> None:
    # 1/8 with eight steps allowed: an improvement by 0.1 is not enough, unless less is asked for.
    slight = attempt([(HOME, LEFT), (SHORTCUT, DONE)], Ending.FAILURE)
    values = {HOME: 0.5, SHORTCUT: 0.6}
    strict = Digirl(GradientStep(_with_values(values))).update(batch(slight))
    lenient = Digirl(GradientStep(_with_values(values)), DigirlSettings(threshold=0.05))
    assert strict.metrics["kept_share"] == 0.0
    assert lenient.update(batch(slight)).metrics["kept_share"] == pytest.approx(1 / 2)
    shorter = replace(slight, task=replace(slight.task, step_limit=30))
    limit = Digirl(GradientStep(_with_values(values))).update(batch(shorter))
    assert limit.metrics["kept_share"] == pytest.approx(1 / 2)


def _one_that_knows_what_is_easy() -> TabularPolicy:
    """Its instruction critic has seen the easy task succeed and the hard one fail."""
    policy = new_policy()
    step = GradientStep(policy, StepSettings(critic_learning_rate=0.1))
    seen = batch(replace(GOOD, task=EASY), replace(BAD, task=HARD))
    for _ in range(60):
        Digirl(step).update(seen, policy_moves=False)
    return policy


def test_the_curriculum_prefers_a_success_that_nobody_expected() -> None:
    policy = _one_that_knows_what_is_easy()
    promised = policy.instruction_logits([EASY.instruction, HARD.instruction]).sigmoid()
    assert promised[0] > 0.8
    assert promised[1] < 0.2
    easy, hard, failed = (
        replace(GOOD, task=EASY),
        replace(GOOD, task=HARD),
        replace(BAD, task=HARD),
    )
    data = batch(easy, hard, failed, failed)
    assert better_than_promised(policy, data, 0.25).tolist() == [0, 1, 0, 0]
    assert better_than_promised(policy, data, 0.5).tolist() == [1, 1, 0, 0]


def test_it_makes_as_many_passes_over_a_batch_as_it_is_told() -> None:
    once, thrice = new_policy(), new_policy()
    for policy, passes in ((once, 1), (thrice, 3)):
        Digirl(GradientStep(policy), DigirlSettings(passes=passes)).update(batch(GOOD, BAD))
    for _ in range(2):
        Digirl(GradientStep(once)).update(batch(GOOD, BAD))
    assert probability(thrice, PAGE, DONE) > 1 / 9 + 2e-5
    assert probability(thrice, PAGE, DONE) == pytest.approx(probability(once, PAGE, DONE), rel=1e-3)


def test_it_draws_uniformly() -> None:
    assert Digirl(GradientStep(new_policy())).draws == "uniform"


def test_what_the_curriculum_leaves_out_is_not_imitated() -> None:
    expected = attempt([(SHORTCUT, LEFT), (PAGE, DONE)], Ending.SUCCESS, task=EASY)
    surprise = attempt([(CORNER, RIGHT), (PAGE, DONE)], Ending.SUCCESS, task=HARD)
    policy = updated(Digirl, batch(expected, surprise), _one_that_knows_what_is_easy())
    assert torch.equal(policy.logits[SHORTCUT], new_policy().logits[SHORTCUT])
    assert probability(policy, CORNER, RIGHT) > 1 / 9 + 1e-6


def test_every_attempt_counts_once_for_its_instruction_however_long() -> None:
    short = attempt([(PAGE, DONE)], Ending.SUCCESS, task=EASY)
    policy = new_policy()
    Digirl(GradientStep(policy)).update(batch(short, replace(BAD, task=HARD)))
    gradient = policy.instruction_table.grad
    assert gradient is not None
    # Both were thought even: (½ − 1)/2 for the success, ½/2 for the failure of two steps.
    assert sorted(gradient[gradient != 0.0].tolist()) == pytest.approx([-0.25, 0.25])


def test_with_nothing_to_imitate_nothing_moves_not_even_by_momentum() -> None:
    policy = new_policy()
    algorithm = Digirl(GradientStep(policy))
    algorithm.update(batch(GOOD))
    before = policy.weights()["logits"]
    assert not torch.equal(before, new_policy().logits)
    assert algorithm.update(batch(BAD)).metrics["kept_share"] == 0.0
    assert torch.equal(policy.logits, before)


def test_weights_of_prioritised_draws_weigh_the_steps() -> None:
    data = recorded()
    nothing = replace(data, weights=torch.zeros_like(data.weights))
    policy = updated(Digirl, nothing)
    assert torch.equal(policy.logits, new_policy().logits)


@pytest.mark.parametrize("settings", [{"decay": 1.5}, {"curriculum_share": 0.0}])
def test_settings_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InvalidSetting, match=next(iter(settings))):
        DigirlSettings(**settings)  # type: ignore[arg-type]
