"""Scores of tokens: right on numbers worked by hand, and the same in chunks as in one piece."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from distrl.agent.token_scores import token_scores


def itself(states: Tensor) -> Tensor:
    return states


def test_numbers_worked_by_hand() -> None:
    """Odds 1 : 3 are p = 1/4, 3/4; at T = 1/2 they are squared, 1 : 9."""
    logits = torch.tensor([[0.0, math.log(3.0)], [0.0, math.log(3.0)]])
    tokens = torch.tensor([0, 1])
    log_probs, entropies = token_scores(logits, itself, tokens, 1.0, 2)
    torch.testing.assert_close(log_probs, torch.tensor([0.25, 0.75]).log())
    entropy = -0.25 * math.log(0.25) - 0.75 * math.log(0.75)
    torch.testing.assert_close(entropies, torch.tensor([entropy, entropy]))
    log_probs, entropies = token_scores(logits, itself, tokens, 0.5, 2)
    torch.testing.assert_close(log_probs, torch.tensor([0.1, 0.9]).log())
    entropy = -0.1 * math.log(0.1) - 0.9 * math.log(0.9)
    torch.testing.assert_close(entropies, torch.tensor([entropy, entropy]))


def test_chunks_change_neither_scores_nor_gradients() -> None:
    noise = torch.Generator().manual_seed(3)
    layer = torch.nn.Linear(6, 11)
    states = torch.randn(13, 6, generator=noise)
    tokens = torch.randint(11, (13,), generator=noise)
    weights = torch.randn(2, 13, generator=noise)
    seen = []
    for numbers in (10**6, 4 * 11, 11, 1):  # all at once; four rows; one row; less than one
        rows = states.clone().requires_grad_()
        layer.zero_grad()
        calls = Calls(layer)
        log_probs, entropies = token_scores(rows, calls, tokens, 0.7, 11, numbers)
        widest = max(calls.rows)
        torch.autograd.backward((weights[0] * log_probs + weights[1] * entropies).sum())
        assert layer.weight.grad is not None
        assert rows.grad is not None
        seen.append((log_probs.detach(), entropies.detach(), layer.weight.grad.clone(), rows.grad))
        assert widest == {10**6: 13, 44: 4, 11: 1, 1: 1}[numbers]
    for other in seen[1:]:
        for found, wanted in zip(other, seen[0], strict=True):
            torch.testing.assert_close(found, wanted)


class Calls:
    """A projection that remembers how many rows it was given at a time."""

    def __init__(self, layer: torch.nn.Linear) -> None:
        self.layer = layer
        self.rows: list[int] = []

    def __call__(self, states: Tensor) -> Tensor:
        self.rows.append(len(states))
        projected: Tensor = self.layer(states)
        return projected


def test_tokens_that_are_ruled_out_leave_numbers_and_gradients_whole() -> None:
    logits = torch.tensor([[0.0, 1.0, -torch.inf]], requires_grad=True)
    log_probs, entropies = token_scores(logits, itself, torch.tensor([1]), 1.0, 3)
    without, entropy = token_scores(logits[:, :2], itself, torch.tensor([1]), 1.0, 2)
    torch.testing.assert_close((log_probs, entropies), (without, entropy))
    torch.autograd.backward((log_probs + entropies).sum())
    assert logits.grad is not None
    assert bool(logits.grad.isfinite().all())


def test_entropy_by_hand() -> None:
    # uniform over 4: log 4; (½, ¼, ¼): 1.5 bits; certain: 0; two of four forbidden: log 2
    rows = [[5.0] * 4, [math.log(2), 0, 0, -math.inf], [1e4, 0, 0, 0], [0, 0, -math.inf, -math.inf]]
    _, found = token_scores(torch.tensor(rows), itself, torch.zeros(4, dtype=torch.long), 1.0, 4)
    wanted = torch.tensor([math.log(4), 1.5 * math.log(2), 0.0, math.log(2)])
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("shift", [-10_000.0, 10_000.0])
def test_entropy_is_stable(shift: float) -> None:
    noise = torch.randn(3, 50, generator=torch.Generator().manual_seed(0))
    logits, tokens = (noise * 64).round() / 64, torch.zeros(3, dtype=torch.long)  # no rounding
    _, moved = token_scores(logits + shift, itself, tokens, 1.0, 50)
    _, found = token_scores(logits, itself, tokens, 1.0, 50)
    torch.testing.assert_close(moved, found, rtol=0, atol=1e-5)
    assert token_scores(logits.half(), itself, tokens, 1.0, 50)[1].dtype == torch.float32


def test_the_surprisal_of_old_actions_is_not_their_entropy() -> None:
    """Raising −log π of what was done pushes that down; raising entropy need not."""
    logits = torch.tensor([[0.0, 2.0]], requires_grad=True)
    log_probs, entropies = token_scores(logits, itself, torch.tensor([0]), 1.0, 2)
    (gradient,) = torch.autograd.grad(entropies.sum(), logits, retain_graph=True)
    (other,) = torch.autograd.grad(-log_probs.sum(), logits)
    assert gradient[0, 0] > 0 > other[0, 0]  # the rare action 0 was done: opposite directions


def test_nothing_has_no_scores() -> None:
    log_probs, entropies = token_scores(
        torch.zeros(0, 4), itself, torch.zeros(0, dtype=torch.long), 1.0, 4
    )
    assert log_probs.shape == entropies.shape == (0,)
