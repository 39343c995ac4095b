"""PPO and its decoupled form: the same on fresh data, different on old data as they should be."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import torch
from benchmarks.small_world import CORNER, HOME, PAGE, REWARDS, new_policy, old_policy
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
    recorded,
    updated,
)

from distrl.errors import InvalidSetting
from distrl.learning.algorithms.clipped_objective import ClipSettings
from distrl.learning.algorithms.grpo import Grpo, GrpoSettings
from distrl.learning.algorithms.ppo import Ppo, PpoSettings
from distrl.learning.batch import batch_of
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.records import Ending, Trajectory

PLAIN = ClipSettings(entropy_weight=0.0)
COUPLED = partial(Ppo, settings=PpoSettings())
DECOUPLED = partial(Ppo, settings=PpoSettings(objective=ClipSettings(decoupled=True)))
BOTH = pytest.mark.parametrize("make", [COUPLED, DECOUPLED], ids=["coupled", "decoupled"])
ONE_STEP = PpoSettings(epochs=1, normalise=False, objective=PLAIN)
GOOD = attempt([(CORNER, RIGHT), (PAGE, DONE)], Ending.SUCCESS)
BAD = attempt([(HOME, BACK), (HOME, DONE)], Ending.FAILURE)


@BOTH
@pytest.mark.seeds(1, 3)
def test_it_learns_from_its_own_data(make: partial[Ppo], seed: int) -> None:
    check_learns(make, seed, to=0.8)


@BOTH
def test_micro_batches_do_not_matter(make: partial[Ppo]) -> None:
    check_micro_batches(make)


@BOTH
def test_padding_does_not_matter(make: partial[Ppo]) -> None:
    check_padding(make)


@BOTH
def test_the_policy_stays_when_told_to(make: partial[Ppo]) -> None:
    check_policy_stays(make)


@BOTH
def test_the_report_is_shaped_like_the_batch(make: partial[Ppo]) -> None:
    check_report(make)


@BOTH
def test_good_steps_become_likelier_and_bad_ones_rarer(make: partial[Ppo]) -> None:
    policy = updated(make, batch(GOOD, BAD))
    assert probability(policy, PAGE, DONE) > 1 / 9 + 1e-4
    assert probability(policy, HOME, DONE) < 1 / 9 - 1e-4


def test_one_step_on_fresh_data_is_the_policy_gradient() -> None:
    # V is one half everywhere and γ = λ = 1: A = 1 − ½ for both steps of GOOD, −½ for those of BAD.
    policy = new_policy()
    with torch.no_grad():
        policy.value_table.zero_()
    settings = PpoSettings(discount=1.0, gae_lambda=1.0, normalise=False, epochs=1, objective=PLAIN)
    report = Ppo(GradientStep(policy), settings).update(batch(GOOD, BAD))
    assert report.advantages.tolist() == [[0.5, 0.5], [-0.5, -0.5]]
    gradient = policy.logits.grad
    assert gradient is not None
    # Seven tokens (`back` is one of them) of probability 1/3: −A·(1 − 1/3)/7.
    assert gradient[PAGE, 0, 2].item() == pytest.approx(-0.5 * (2 / 3) / 7)
    assert gradient[HOME, 0, 2].item() == pytest.approx(0.5 * (2 / 3) / 7 - 0.5 * (1 / 3) / 7)


def test_the_critic_learns_the_discounted_returns() -> None:
    policy = new_policy()
    step = GradientStep(policy, StepSettings(critic_learning_rate=0.1))
    for _ in range(100):
        Ppo(step, PpoSettings(discount=0.8)).update(batch(GOOD, BAD), policy_moves=False)
    values = policy.value_table.sigmoid().amin(1)
    assert values[PAGE].item() == pytest.approx(1.0, abs=0.02)
    assert values[CORNER].item() == pytest.approx(0.8, abs=0.02)
    assert values[HOME].item() == pytest.approx(0.0, abs=0.02)


def test_on_fresh_data_the_decoupled_form_is_ppo() -> None:
    behaviour = old_policy()
    data = batch_of(WORLD.episodes(behaviour, 24, "fresh"), REWARDS)
    moved = [updated(make, data, old_policy()) for make in (COUPLED, DECOUPLED)]
    torch.testing.assert_close(moved[0].logits, moved[1].logits, rtol=0.0, atol=1e-5)
    assert not torch.allclose(moved[0].logits, behaviour.logits, atol=1e-3)


def test_on_old_data_it_is_not() -> None:
    data = recorded()  # by the old policy; the uniform one learns from it
    moved = [updated(make, data) for make in (COUPLED, DECOUPLED)]
    assert not torch.allclose(moved[0].logits, moved[1].logits, atol=1e-3)


def test_where_the_policy_has_gone_far_already_only_the_decoupled_form_learns() -> None:
    good = _said_by_one_that_rarely_would(CORNER)
    coupled, decoupled = new_policy(), new_policy()
    norm = Ppo(GradientStep(coupled), ONE_STEP).update(batch(good)).gradient_norms["policy"]
    assert norm == 0.0  # the ratio is above 1 + ε, the advantage above 0: clipped away
    settings = PpoSettings(
        epochs=1, normalise=False, objective=ClipSettings(entropy_weight=0.0, decoupled=True)
    )
    report = Ppo(GradientStep(decoupled), settings).update(batch(good))
    assert report.gradient_norms["policy"] > 0.0
    assert report.metrics["clip_fraction"] == 1.0
    assert probability(decoupled, CORNER, RIGHT) > probability(coupled, CORNER, RIGHT)


def _said_by_one_that_rarely_would(state: int) -> Trajectory:
    shy = new_policy()
    for each, answer in ((state, RIGHT), (PAGE, DONE)):
        shy.prefer(each, answer, -1.0)
    return attempt([(state, RIGHT), (PAGE, DONE)], Ending.SUCCESS, policy=shy)


def test_the_correction_of_the_decoupled_form_is_capped() -> None:
    good = _said_by_one_that_rarely_would(CORNER)

    def norm(cap: float) -> float:
        objective = ClipSettings(entropy_weight=0.0, decoupled=True, behaviour_cap=cap)
        settings = PpoSettings(epochs=1, normalise=False, objective=objective)
        return (
            Ppo(GradientStep(new_policy()), settings).update(batch(good)).gradient_norms["policy"]
        )

    assert norm(1.0) < norm(1.2) < norm(100.0)
    assert norm(0.5) == pytest.approx(norm(1.0) / 2, rel=1e-5)


def test_epochs_go_further_until_the_clip_stops_them() -> None:
    def gone(epochs: int) -> float:
        settings = PpoSettings(epochs=epochs, normalise=False, objective=PLAIN)
        return probability(updated(partial(Ppo, settings=settings), batch(GOOD)), PAGE, DONE)

    assert 1 / 9 < gone(1) < gone(4) < gone(16)
    # Both tokens stop 20 % above 1/3, and momentum carries them a little further.
    assert gone(200) < 1.6 * 1.2**2 / 9


def test_entropy_weight_pulls_towards_the_uniform_policy() -> None:
    sure = new_policy()
    sure.prefer(PAGE, DONE, 2.0)
    data = batch(attempt([(PAGE, DONE)], Ending.SUCCESS, policy=sure))
    settings = PpoSettings(objective=ClipSettings(entropy_weight=10.0))
    before = probability(sure, PAGE, DONE)
    assert probability(updated(partial(Ppo, settings=settings), data, sure), PAGE, DONE) < before


@pytest.mark.parametrize(
    "settings", [{"discount": 1.5}, {"gae_lambda": -0.1}, {"epochs": 0}], ids=str
)
def test_settings_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InvalidSetting, match=next(iter(settings))):
        PpoSettings(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "settings",
    [{"clip": 0.0}, {"clip_high": 0.0}, {"behaviour_cap": 0.0}, {"entropy_weight": -1.0}],
    ids=str,
)
def test_clip_settings_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InvalidSetting, match=next(iter(settings))):
        ClipSettings(**settings)  # type: ignore[arg-type]


def test_the_weights_of_prioritised_draws_enter_entropy_and_penalty_too() -> None:
    """With weight 0 nothing of a trajectory is left: no entropy, no distance from π_ref."""
    data, policy = recorded(), old_policy(1)
    nothing = replace(data, weights=torch.zeros_like(data.weights))
    objective = ClipSettings(entropy_weight=0.5)
    entropic = Ppo(GradientStep(policy), PpoSettings(objective=objective)).update(nothing)
    settings = GrpoSettings(kl_weight=0.5, objective=objective)
    tied = Grpo(GradientStep(policy), settings, new_policy()).update(nothing)
    assert entropic.losses == {"policy": 0.0, "entropy": 0.0, "value": 0.0}
    assert tied.losses["kl"] == tied.losses["entropy"] == 0.0
