"""Ratios against plain products, at their limits, and what a report says about them."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.learning.definitions import GARBAGE
from torch import Tensor

from distrl.learning.targets import ratios
from distrl.learning.targets.ratios import (
    LOG_LIMIT,
    at_level,
    clip_fraction,
    effective_sample_size,
    length_normalised,
    per_token,
    per_turn,
    quantiles,
    truncate,
)

log_probs = st.floats(-2.0, 0.0, allow_subnormal=False)
turns = st.lists(st.tuples(log_probs, log_probs), max_size=6)  # (new, old) of each token


def _padded(tokens: list[tuple[float, float]], garbage: float) -> tuple[Tensor, Tensor, Tensor]:
    filled = [*tokens, *[(garbage, garbage)] * (7 - len(tokens))]
    both = torch.tensor([[filled]], dtype=torch.float64)  # [1, 1, 7, 2]
    mask = torch.tensor([[[j < len(tokens) for j in range(7)]]])
    return both[..., 0], both[..., 1], mask


@given(tokens=turns, garbage=st.sampled_from(GARBAGE))
def test_a_turn_is_the_product_of_its_tokens(
    tokens: list[tuple[float, float]], garbage: float
) -> None:
    new, old, mask = _padded(tokens, garbage)
    each = [math.exp(one) / math.exp(other) for one, other in tokens]
    product = math.prod(each)
    mean = product ** (1 / len(tokens)) if tokens else 1.0
    found = per_token(new, old, mask)[0, 0]
    assert found.tolist() == pytest.approx([*each, *[1.0] * (7 - len(tokens))], rel=1e-12)
    assert per_turn(new, old, mask).item() == pytest.approx(product, rel=1e-12)
    assert length_normalised(new, old, mask).item() == pytest.approx(mean, rel=1e-12)


def test_by_hand() -> None:
    # π = (0.5, 0.2), μ = (0.25, 0.4): ρ = (2, 0.5), the turn 1, its mean 1
    # π = (0.9), μ = (0.1): 9, 9, 9
    new = torch.tensor([[[0.5, 0.2], [0.9, math.nan]]], dtype=torch.float64).log()
    old = torch.tensor([[[0.25, 0.4], [0.1, 0.0]]], dtype=torch.float64).log()
    mask = torch.tensor([[[True, True], [True, False]]])
    torch.testing.assert_close(per_token(new, old, mask).flatten().tolist(), [2.0, 0.5, 9.0, 1.0])
    torch.testing.assert_close(per_turn(new, old, mask).tolist(), [[1.0, 9.0]])
    torch.testing.assert_close(length_normalised(new, old, mask).tolist(), [[1.0, 9.0]])
    spread = at_level("turn", new, old, mask)
    torch.testing.assert_close(spread.tolist(), [[[1.0, 1.0], [9.0, 1.0]]])
    assert at_level("token", new, old, mask).equal(per_token(new, old, mask))
    of_mean = at_level("length_normalised", new, old, mask)[..., 0]
    assert of_mean.equal(length_normalised(new, old, mask))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_long_turns_neither_overflow_nor_vanish(dtype: torch.dtype) -> None:
    """200 tokens that are 20 times likelier each: 20²⁰⁰ is beyond every float."""
    old = torch.full((1, 2, 200), -3.0, dtype=dtype)
    new = torch.stack([old[0, 0] + 3.0, old[0, 0] - 3.0]).unsqueeze(0).requires_grad_()
    mask = torch.ones(1, 2, 200, dtype=torch.bool)
    far = per_turn(new, old, mask)
    assert far.tolist()[0] == pytest.approx([math.exp(LOG_LIMIT), math.exp(-LOG_LIMIT)], rel=1e-5)
    assert length_normalised(new, old, mask).tolist()[0] == pytest.approx(
        [math.exp(3), math.exp(-3)], rel=1e-5
    )
    torch.autograd.backward(far.sum())
    assert new.grad is not None
    assert new.grad.isfinite().all()
    assert effective_sample_size(far, torch.ones(1, 2, dtype=torch.bool)).isfinite()


def test_a_token_that_became_impossible_has_almost_no_weight() -> None:
    mask = torch.tensor([True])
    gone = per_token(torch.tensor([-math.inf]), torch.tensor([-1.0]), mask)
    assert 0.0 < gone.item() < 1e-8


@pytest.mark.parametrize("name", ["per_token", "per_turn", "length_normalised"])
def test_gradients_reach_real_tokens_only(name: str) -> None:
    function = getattr(ratios, name)
    new = torch.randn(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    old = torch.zeros_like(new)
    mask = torch.tensor([[[True, True, False, False]] * 3, [[True] * 4, [True] * 4, [False] * 4]])
    assert torch.autograd.gradcheck(lambda x: function(x, old, mask), (new.requires_grad_(),))
    for garbage in GARBAGE:
        dirty = torch.where(mask, new.detach(), garbage).requires_grad_()
        out = function(dirty, torch.where(mask, old, -garbage), mask)
        assert out.equal(function(new, old, mask))
        (gradient,) = torch.autograd.grad(out.sum(), dirty)
        assert gradient.equal(torch.autograd.grad(function(new, old, mask).sum(), new)[0])
        assert not gradient[~mask].any()


def test_truncation_and_its_share() -> None:
    found = torch.tensor([[0.5, 1.0, 1.5, 3.0, math.nan]])
    mask = torch.tensor([[True, True, True, True, False]])
    assert truncate(found)[0, :4].tolist() == [0.5, 1.0, 1.0, 1.0]
    assert truncate(found, cap=2.0)[0, :4].tolist() == [0.5, 1.0, 1.5, 2.0]
    assert clip_fraction(found, mask).item() == 0.5
    assert clip_fraction(found, mask, low=0.8, high=1.2).item() == 0.75
    assert clip_fraction(found, torch.zeros_like(mask)).item() == 0.0


def test_on_policy_ratios_that_were_rounded_are_not_clipped() -> None:
    """Half of them lie above 1 by a hair: nothing is cut off there, and nobody has moved."""
    found = torch.tensor([[1.0 + 1e-6, 1.0 - 1e-6, 1.0 + 3e-4, 1.01]])
    mask = torch.ones_like(found, dtype=torch.bool)
    assert clip_fraction(found, mask).item() == 0.25
    assert clip_fraction(found, mask, low=1.0, high=1.0).item() == 0.25


# Effective sample size ---------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1e-30, 1e-8, 1.0, 1e30])
def test_equal_weights_are_all_worth_something(weight: float) -> None:
    found = torch.full((3, 5), weight)
    mask = torch.ones(3, 5, dtype=torch.bool)
    mask[2] = False
    found[2] = math.inf
    assert effective_sample_size(found, mask).item() == pytest.approx(10.0)


def test_one_that_dominates_is_worth_one() -> None:
    found = torch.full((1, 100), 1e-3)
    found[0, 7] = 1e20
    assert effective_sample_size(found, found > 0).item() == pytest.approx(1.0)


def test_effective_sample_size_by_hand() -> None:
    # (1 + 2 + 3)² / (1 + 4 + 9) = 36 / 14
    found = torch.tensor([1.0, 2.0, 3.0, math.nan], dtype=torch.float64)
    mask = torch.tensor([True, True, True, False])
    assert effective_sample_size(found, mask).item() == pytest.approx(36 / 14, rel=1e-12)
    assert effective_sample_size(found, torch.zeros_like(mask)).item() == 0.0
    assert effective_sample_size(torch.zeros(4), mask).item() == 0.0
    assert effective_sample_size(torch.zeros(0), torch.zeros(0).bool()).item() == 0.0


def test_quantiles_see_real_ratios_only() -> None:
    found = torch.tensor([[4.0, 1.0, math.nan], [3.0, 0.0, 2.0]])
    mask = torch.tensor([[True, True, False], [True, True, True]])
    assert quantiles(found, mask, (0.0, 0.5, 1.0)).tolist() == [0.0, 2.0, 4.0]
    assert quantiles(found, torch.zeros_like(mask)).isnan().all()
