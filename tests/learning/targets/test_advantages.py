"""Advantages against their equations, by hand and by brute force."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.learning.definitions import (
    GARBAGE,
    Batch,
    Walk,
    assert_defined,
    batch_from_seed,
    batches,
    monte_carlo_sum,
    retrace_sum,
)

from distrl.learning.targets.advantages import (
    doubly_robust,
    generalised,
    group_relative,
    keep_above,
    normalise,
)
from distrl.learning.targets.retrace import (
    monte_carlo,
    one_step_td,
    retrace,
    signed_advantages,
    td_errors,
    vtrace,
)

garbages = st.sampled_from(GARBAGE)


@given(batch=batches, garbage=garbages)
def test_signed_is_its_equation(batch: Batch, garbage: float) -> None:
    def definition(walk: Walk, batch: Batch, t: int) -> float:
        last = t == len(walk.rewards) - 1
        following = walk.next_value(t) if last else retrace_sum(walk, batch, t + 1)
        return walk.rewards[t] + batch.discount * following - walk.values[t]

    arrays = batch.padded(garbage)
    targets = retrace(**arrays, discount=batch.discount, lambda_=batch.lambda_)
    del arrays["ratios"]
    assert_defined(signed_advantages(targets, **arrays, discount=batch.discount), definition, batch)


@given(batch=batches, garbage=garbages)
def test_generalised_is_its_sum(batch: Batch, garbage: float) -> None:
    def definition(walk: Walk, batch: Batch, t: int) -> float:
        later = range(t, len(walk.rewards))
        weight = batch.discount * batch.lambda_
        return sum(weight ** (k - t) * walk.error(k, batch.discount) for k in later)

    arrays = batch.padded(garbage)
    del arrays["ratios"]
    found = generalised(**arrays, discount=batch.discount, lambda_=batch.lambda_)
    assert_defined(found, definition, batch)


@given(batch=batches)
def test_generalised_at_its_ends(batch: Batch) -> None:
    arrays = batch.padded()
    del arrays["ratios"]
    whole = generalised(**arrays, discount=batch.discount, lambda_=1.0)

    def surprise(walk: Walk, batch: Batch, t: int) -> float:
        return monte_carlo_sum(walk, batch, t) - walk.values[t]

    assert_defined(whole, surprise, batch)
    short = generalised(**arrays, discount=batch.discount, lambda_=0.0)
    assert short.equal(td_errors(**arrays, discount=batch.discount))


@given(batch=batches, garbage=garbages, successes=st.lists(st.booleans(), min_size=4, max_size=4))
def test_doubly_robust_is_its_equation(batch: Batch, garbage: float, successes: list[bool]) -> None:
    outcomes = [float(success) for success in successes[: len(batch.walks)]]

    def definition(walk: Walk, batch: Batch, t: int) -> float:
        outcome = next(o for w, o in zip(batch.walks, outcomes, strict=True) if w is walk)
        weight = batch.lambda_ ** (len(walk.rewards) - 1 - t) * outcome
        better = walk.next_value(t) + walk.rewards[t] - walk.values[t]
        return weight + (1 - weight) * better

    arrays = batch.padded(garbage)
    del arrays["ratios"]
    known = torch.tensor(outcomes, dtype=torch.float64)
    found = doubly_robust(**arrays, outcomes=known, decay=batch.lambda_)
    assert_defined(found, definition, batch)


def test_doubly_robust_by_hand() -> None:
    # A success of two steps, λ = 0.5, V = (0.2, 0.4): w = (0.5, 1)
    # A0 = 0.5 + 0.5·(0.4 + 0 − 0.2) = 0.6; A1 = 1 + 0 = 1. As a failure: (0.2, −0.4).
    values = torch.tensor([[0.2, 0.4, math.nan]] * 2, dtype=torch.float64)
    rewards = torch.tensor([[0.0, 1.0], [0.0, 0.0]], dtype=torch.float64)
    mask, ended = torch.ones(2, 2).bool(), torch.zeros(2).bool()
    found = doubly_robust(values, rewards, rewards[:, 1], mask, ended, decay=0.5)
    torch.testing.assert_close(found.tolist(), [[0.6, 1.0], [0.2, -0.4]])
    # DigiRL keeps steps above 1/H, here 1/2: both of the success, none of the failure
    assert keep_above(found, mask, 1 / mask.sum(1, keepdim=True)).tolist() == [[1, 1], [0, 0]]


def test_the_three_targets_give_the_three_advantages() -> None:
    batch = dataclasses.replace(batch_from_seed(6), lambda_=1.0)
    arrays = batch.padded()
    ratios, mask = arrays.pop("ratios"), arrays["mask"]
    values = torch.where(mask, arrays["values"][:, :-1], 0.0)
    returns = monte_carlo(**arrays, discount=0.9)
    of_returns = signed_advantages(returns, **arrays, discount=0.9)
    torch.testing.assert_close(of_returns, returns - values)
    steps = one_step_td(**arrays, discount=0.9)
    last = mask & ~torch.cat([mask[:, 1:], torch.zeros(4, 1).bool()], 1)
    of_steps, errors = (
        signed_advantages(steps, **arrays, discount=0.9),
        td_errors(**arrays, discount=0.9),
    )
    torch.testing.assert_close(of_steps[last], errors[last])
    found = vtrace(**arrays, ratios=ratios, discount=0.9)
    plain = signed_advantages(found.targets, **arrays, discount=0.9)
    weighted = torch.where(mask, ratios.clamp(max=1.0), 0.0) * plain
    torch.testing.assert_close(found.advantages, weighted)


# Groups ------------------------------------------------------------------------------------------


def test_groups_by_hand() -> None:
    # group 7: 1, 0, 0, 1: mean ½, deviation ½ → ±1; group 3 alone → 0; group 5 all equal → 0
    # group 9: 3, 0, 0: mean 1, deviation √((4 + 1 + 1)/3) = √2
    outcomes = torch.tensor([1, 0.3, 0, 0.1, 0, 0.1, 1, 0.1, 3, 0, 0], dtype=torch.float64)
    groups = torch.tensor([7, 3, 7, 5, 7, 5, 7, 5, 9, 9, 9])
    root = math.sqrt(2)
    expected = [1, 0, -1, 0, -1, 0, 1, 0, 2 / root, -1 / root, -1 / root]
    assert group_relative(outcomes, groups).tolist() == pytest.approx(expected, rel=1e-12)
    plain = group_relative(outcomes, groups, divide_by_deviation=False)
    assert plain.tolist() == pytest.approx([0.5, 0, -0.5, 0, -0.5, 0, 0.5, 0, 2, -1, -1])


@pytest.mark.parametrize("size", range(1, 60))
def test_groups_without_spread_teach_exactly_nothing(size: int) -> None:
    """The mean of equal numbers need not be that number in float32: no noise may come of it."""
    outcomes, groups = torch.full((size,), 0.1), torch.zeros(size, dtype=torch.long)
    assert not group_relative(outcomes, groups).any()
    assert not group_relative(outcomes, groups, divide_by_deviation=False).any()


@given(
    outcomes=st.lists(st.floats(-5, 5, width=32), min_size=12, max_size=12),
    groups=st.lists(st.integers(0, 3), min_size=12, max_size=12),
)
def test_groups_are_centred_and_of_unit_size(outcomes: list[float], groups: list[int]) -> None:
    found = group_relative(torch.tensor(outcomes).double(), torch.tensor(groups)).tolist()
    for group in set(groups):
        members = [a for a, g in zip(found, groups, strict=True) if g == group]
        assert sum(members) == pytest.approx(0.0, abs=1e-6)
        power = sum(a * a for a in members) / len(members)
        assert power == pytest.approx(1.0) or not any(members)


# Shaping -----------------------------------------------------------------------------------------


def test_normalised_over_real_steps() -> None:
    # 1, 2, 3: mean 2, deviation √(2/3)
    advantages = torch.tensor([[1.0, 2.0, math.nan], [3.0, math.inf, -1e9]], dtype=torch.float64)
    mask = torch.tensor([[True, True, False], [True, False, False]])
    found = normalise(advantages, mask, epsilon=0.0)
    root = math.sqrt(1.5)
    torch.testing.assert_close(found.tolist(), [[-root, 0.0, 0.0], [root, 0.0, 0.0]])


@pytest.mark.parametrize("steps", [0, 1, 7, 1000])
def test_equal_advantages_do_not_become_noise(steps: int) -> None:
    advantages = torch.full((1, max(steps, 1)), 0.1)
    mask = torch.full((1, max(steps, 1)), steps > 0)
    assert normalise(advantages, mask).abs().max() < 0.01


def test_filter() -> None:
    advantages = torch.tensor([[-3.0, 0.0, 0.5, math.inf]])
    mask = torch.tensor([[True, True, True, False]])
    assert keep_above(advantages, mask).tolist() == [[0, 0, 1, 0]]
    assert keep_above(advantages, mask, -1.0).tolist() == [[0, 1, 1, 0]]
