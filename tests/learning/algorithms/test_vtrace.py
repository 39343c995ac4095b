"""V-trace actor-critic, and where V-trace and Retrace part ways, on exact expectations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.small_world import ACTIONS, REWARDS, STATE_NAMES, Floats, Solution
from tests.learning.actor_critic_checks import (
    EveryStart,
    assert_close,
    every_start,
    facts_of,
    gradients,
    learn_from_old_data,
    moved_policy,
    old_episodes,
    score_gradient,
)
from tests.learning.algorithms.algorithm_checks import (
    check_micro_batches,
    check_padding,
    check_policy_stays,
    check_report,
)
from torch import Tensor

from distrl.errors import InvalidSetting
from distrl.learning.algorithms.vtrace import VTraceActorCritic, VTraceSettings
from distrl.learning.batch import Batch, batch_of
from distrl.learning.gradient_step import GradientStep
from distrl.learning.targets.retrace import retrace, signed_advantages, vtrace

GAMMA = 0.9
SOLUTION = Solution(GAMMA)
Estimate = Callable[[Tensor], Tensor]  # values [states] -> expected correction [states]


def _actor_critic(**settings: Any) -> Callable[[GradientStep], VTraceActorCritic]:
    return lambda step: VTraceActorCritic(step, VTraceSettings(discount=GAMMA, **settings))


# It learns ---------------------------------------------------------------------------------------


@pytest.mark.seeds(1, 2)
def test_it_converges_to_the_optimum_from_the_data_of_an_old_policy(seed: int) -> None:
    learned = learn_from_old_data(_actor_critic(), seed)
    assert learned.regret < 0.01
    assert learned.value_error < 0.06
    assert learned.success_rate > 0.94


@pytest.mark.slow
def test_without_correction_it_does_not() -> None:
    learned = learn_from_old_data(_actor_critic(ratio_level="none"), seed=0)
    assert learned.regret > 0.1
    assert learned.value_error > 0.5


# V-trace and Retrace, exactly --------------------------------------------------------------------


def _random_policy(seed: int) -> Floats:
    shape = np.full(len(ACTIONS) + 1, 0.7)
    drawn = np.random.default_rng(seed).dirichlet(shape, len(STATE_NAMES))
    return 0.05 / len(shape) + 0.95 * drawn  # nothing is impossible


MU, PI = _random_policy(1), _random_policy(2)
WORLDS = every_start(MU, SOLUTION)


def _between(cap: float) -> Floats:
    """The policy ∝ min(cap·μ, π), whose values V-trace learns."""
    lower = np.minimum(cap * MU, PI)
    return np.asarray(lower / lower.sum(1, keepdims=True))


def _at(values: Tensor, worlds: EveryStart) -> dict[str, Any]:
    return {
        "values": values[worlds.states],
        "rewards": worlds.rewards,
        "ratios": worlds.ratios(PI, MU),
        "mask": worlds.mask,
        "bootstrap": worlds.bootstrap,
        "discount": GAMMA,
    }


def _vtrace(**clips: Any) -> Estimate:
    def estimate(values: Tensor) -> Tensor:
        targets = vtrace(**_at(values, WORLDS), **clips).targets[:, 0]
        return WORLDS.mean_by_start(targets - values[WORLDS.states[:, 0]])

    return estimate


def _retrace(lambda_: float, cap: float | None) -> Estimate:
    """As A-RIDE's critic has it, by the ratio of its own step; as printed where cap is None."""

    def estimate(values: Tensor) -> Tensor:
        targets = retrace(**_at(values, WORLDS), lambda_=lambda_)[:, 0]
        own = WORLDS.ratios(PI, MU)[:, 0]
        weights = torch.ones_like(own) if cap is None else own.clamp(max=cap)
        return WORLDS.mean_by_start(weights * (targets - values[WORLDS.states[:, 0]]))

    return estimate


def _fixed_point(estimate: Estimate) -> Floats:
    """Where the expected correction is 0; it is linear in the values but for a constant."""
    unit = torch.eye(len(STATE_NAMES), dtype=torch.float64)
    constant = estimate(torch.zeros_like(unit[0]))
    slopes = torch.stack([estimate(column) - constant for column in unit], dim=1)
    return np.asarray(torch.linalg.solve(slopes, -constant).numpy())


def test_all_short_trajectories_are_listed() -> None:
    np.testing.assert_allclose(
        WORLDS.mean_by_start(torch.ones_like(WORLDS.probabilities)).numpy(), 1.0, atol=1e-12
    )


@pytest.mark.parametrize("rho_clip", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("lambda_", [0.0, 0.7, 1.0])
def test_vtrace_finds_the_values_of_the_policy_between(rho_clip: float, lambda_: float) -> None:
    found = _fixed_point(_vtrace(rho_clip=rho_clip, c_clip=min(1.0, rho_clip), lambda_=lambda_))
    np.testing.assert_allclose(found, SOLUTION.values(_between(rho_clip)), atol=1e-9)


@pytest.mark.parametrize("c_clip", [0.3, 1.0])
def test_vtrace_unclipped_finds_the_values_of_the_policy_itself(c_clip: float) -> None:
    found = _fixed_point(_vtrace(rho_clip=1e6, c_clip=c_clip))
    np.testing.assert_allclose(found, SOLUTION.values(PI), atol=1e-9)
    assert np.abs(SOLUTION.values(PI) - SOLUTION.values(_between(1.0))).max() > 0.01  # clips bite


@pytest.mark.parametrize("lambda_", [0.0, 0.7, 1.0])
def test_retrace_with_the_weight_of_its_own_step_finds_the_same(lambda_: float) -> None:
    found = _fixed_point(_retrace(lambda_, cap=1.0))
    np.testing.assert_allclose(found, SOLUTION.values(_between(1.0)), atol=1e-9)


def test_retrace_uncapped_and_one_step_finds_the_values_of_the_policy_itself() -> None:
    found = _fixed_point(_retrace(0.0, cap=1e6))
    np.testing.assert_allclose(found, SOLUTION.values(PI), atol=1e-9)


def test_retrace_as_printed_keeps_to_the_old_policy() -> None:
    one_step = _fixed_point(_retrace(0.0, cap=None))
    np.testing.assert_allclose(one_step, SOLUTION.values(MU), atol=1e-9)
    full = _fixed_point(_retrace(1.0, cap=None))
    for policy in (MU, PI, _between(1.0)):  # nobody's values
        assert np.abs(full - SOLUTION.values(policy)).max() > 0.01


def test_on_policy_both_find_the_values_of_the_policy() -> None:
    worlds = every_start(PI, SOLUTION)
    values = torch.from_numpy(SOLUTION.values(PI))
    arrays = {**_at(values, worlds), "ratios": torch.ones_like(worlds.rewards)}
    for targets in (vtrace(**arrays).targets, retrace(**arrays, lambda_=1.0)):
        mean = worlds.mean_by_start(targets[:, 0])
        np.testing.assert_allclose(mean.numpy(), values.numpy(), atol=1e-12)


def test_the_correction_of_retrace_is_the_advantage_of_an_answer_and_the_printed_one_is_not() -> (
    None
):
    """For a policy that is sure of itself, with its own values, over data of another."""
    best = np.eye(len(ACTIONS) + 1)[SOLUTION.best_actions]
    values = torch.from_numpy(SOLUTION.best_values)
    arrays = {**_at(values, WORLDS), "ratios": WORLDS.ratios(best, MU)}
    targets = retrace(**arrays, lambda_=1.0)
    wanted = SOLUTION.action_values(SOLUTION.best_values) - SOLUTION.best_values[:, None]
    found = _by_first_action(targets[:, 0] - arrays["values"][:, 0])
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    arrays.pop("ratios")
    printed = _by_first_action(signed_advantages(targets, **arrays)[:, 0])
    assert (
        wanted - printed
    ).max() > 0.1  # good answers look bad where the old policy goes on badly


def _by_first_action(worth: Tensor) -> Floats:  # [states, actions]: the mean, given the action
    table = torch.zeros(len(STATE_NAMES), len(ACTIONS) + 1, dtype=torch.float64)
    first = (WORLDS.states[:, 0], WORLDS.actions[:, 0])
    table.index_put_(first, WORLDS.probabilities * worth, accumulate=True)
    return np.asarray(table.numpy() / MU)


# Its gradients are those of the equations --------------------------------------------------------


def _batch(weights: list[float] | None = None) -> Batch:
    return batch_of(old_episodes(), REWARDS, weights)


def test_policy_and_heads_move_as_the_equations_say() -> None:
    """With both clips at 1, V-trace is Retrace times the ratio of its own step."""
    batch, policy = _batch(), moved_policy()
    facts = facts_of(policy, batch, GAMMA, 1.0)
    weights = [min(1.0, fact.ratio) * fact.advantage / len(facts) for fact in facts]
    heads = torch.zeros_like(policy.value_table)
    for fact in facts:
        value = fact.target - fact.advantage
        target = value + min(1.0, fact.ratio) * fact.advantage
        heads[fact.state] += policy.value_table[fact.state].detach().sigmoid() - target
    found = gradients(_actor_critic(entropy_weight=0.0), batch)
    wanted = {"policy": -score_gradient(policy, facts, weights), "values": heads / len(facts)}
    assert_close(found, wanted, atol=1e-7)


def test_the_weights_of_prioritised_draws_enter_every_loss() -> None:
    full, count = _actor_critic(entropy_weight=0.2), len(old_episodes())
    first = gradients(full, _batch([1.0] + [0.0] * (count - 1)))
    rest = gradients(full, _batch([0.0] + [1.0] * (count - 1)))
    together = gradients(full, _batch([0.25] + [3.0] * (count - 1)))
    assert_close(together, {name: 0.25 * first[name] + 3.0 * rest[name] for name in together})


@pytest.mark.parametrize(
    "variant",
    [
        {},
        {"rho_clip": 3.0, "value_loss": "squared"},
        {"averaging": "per_token", "vtrace_lambda": 0.5},
    ],
)
def test_splits_padding_and_reports_are_in_order(variant: dict[str, Any]) -> None:
    check_micro_batches(_actor_critic(**variant))
    check_padding(_actor_critic(**variant))
    check_report(_actor_critic(**variant))


def test_the_policy_does_not_move_while_the_critic_warms_up() -> None:
    check_policy_stays(_actor_critic())


@pytest.mark.parametrize(
    "setting",
    [
        {"discount": -0.1},
        {"vtrace_lambda": 1.5},
        {"rho_clip": 0.0},
        {"c_clip": 1.5},  # above rho_clip
        {"entropy_weight": -1.0},
        {"value_weight": float("nan")},
    ],
)
def test_settings_out_of_range_are_refused_by_name(setting: dict[str, float]) -> None:
    with pytest.raises(InvalidSetting, match=rf"(VTraceSettings|vtrace)\.{next(iter(setting))}"):
        VTraceSettings(**setting)  # type: ignore[arg-type]
