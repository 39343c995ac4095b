"""What each kind of mean is a mean of, and that micro-batches add up to their batch."""

from __future__ import annotations

import math

import pytest
import torch

from distrl.learning.losses.averages import Averaging, count, step_mean, token_mean

# Three turns: tokens (1, 2, 3), (10), and none; what is not real is NaN.
NAN = math.nan
TOKENS = torch.tensor([[[1.0, 2.0, 3.0], [10.0, NAN, NAN], [NAN, NAN, NAN]]], dtype=torch.float64)
MASK = ~TOKENS.isnan()
KINDS: list[tuple[Averaging, int, float]] = [
    ("per_token", 4, 4.0),  # (1 + 2 + 3 + 10) / 4
    ("per_turn", 2, 6.0),  # (mean(1, 2, 3) + 10) / 2
    ("whole_turn", 2, 8.0),  # (1 + 2 + 3 + 10) / 2
]


@pytest.mark.parametrize(("averaging", "things", "mean"), KINDS)
def test_by_hand(averaging: Averaging, things: int, mean: float) -> None:
    assert count(MASK, averaging).item() == things
    assert token_mean(TOKENS, MASK, averaging).item() == mean


@pytest.mark.parametrize("averaging", ["per_token", "per_turn", "whole_turn"])
def test_micro_batches_add_up(averaging: Averaging) -> None:
    rng = torch.Generator().manual_seed(2)
    values = torch.randn(6, 4, 5, dtype=torch.float64, generator=rng)
    mask = torch.rand(6, 4, 5, generator=rng) < 0.6
    total = count(mask, averaging)
    pieces = [
        token_mean(values[rows], mask[rows], averaging, total)
        for rows in (slice(0, 1), slice(1, 4), slice(4, 6))
    ]
    whole = token_mean(values, mask, averaging)
    torch.testing.assert_close(torch.stack(pieces).sum(), whole, rtol=0, atol=1e-12)


def test_steps() -> None:
    steps = torch.tensor([[1.0, 3.0, NAN]])
    assert step_mean(steps, ~steps.isnan()).item() == 2.0
    assert step_mean(steps, ~steps.isnan(), total=8).item() == 0.5


def test_a_mean_of_nothing_is_zero_and_has_no_gradient() -> None:
    nothing = torch.full((1, 2, 3), NAN, requires_grad=True)
    mask = torch.zeros(1, 2, 3, dtype=torch.bool)
    mean = token_mean(nothing, mask, "per_turn")
    torch.autograd.backward(mean)
    assert mean.item() == 0.0
    assert nothing.grad is not None
    assert not nothing.grad.any()
    assert step_mean(nothing[0], mask[0]).item() == 0.0
