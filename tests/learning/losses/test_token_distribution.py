"""Log-probabilities, entropy and divergence from logits: exact, stable, right gradients."""

from __future__ import annotations

import math

import pytest
import torch
from tests.learning.definitions import GARBAGE
from torch import Tensor

from distrl.learning.losses.divergence import KlEstimator, estimated_kl, exact_kl, kl_penalty
from distrl.learning.losses.token_distribution import entropy_bonus, token_entropy, token_log_probs

ONE = torch.tensor([True])


def _logits(*shape: int, seed: int = 0) -> Tensor:
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=rng)


def test_log_probs_by_hand() -> None:
    # probabilities 1/4 and 3/4; at temperature ½ they are squared: 1/10 and 9/10
    logits = torch.tensor([[1.0, 3.0]], dtype=torch.float64).log()
    ids = torch.tensor([1])
    assert token_log_probs(logits, ids, ONE).exp().item() == pytest.approx(0.75)
    assert token_log_probs(logits, ids, ONE, temperature=0.5).exp().item() == pytest.approx(0.9)
    # padding may even name a token that does not exist
    none = token_log_probs(logits, torch.tensor([-100]), ~ONE)
    assert none.item() == 0.0


def test_entropy_by_hand() -> None:
    # uniform over 4: log 4; (½, ¼, ¼): 1.5 bits; certain: 0; two of four forbidden: log 2
    rows = [[5.0] * 4, [math.log(2), 0, 0, -math.inf], [1e4, 0, 0, 0], [0, 0, -math.inf, -math.inf]]
    logits = torch.tensor(rows, dtype=torch.float64)
    found = token_entropy(logits, torch.ones(4).bool()).tolist()
    assert found == pytest.approx([math.log(4), 1.5 * math.log(2), 0.0, math.log(2)], abs=1e-12)


@pytest.mark.parametrize("shift", [-10_000.0, 10_000.0])
def test_entropy_is_stable(shift: float) -> None:
    logits = (_logits(3, 50) * 64).round().float() / 64  # so that the shift itself rounds nothing
    mask = torch.ones(3).bool()
    moved, found = token_entropy(logits + shift, mask), token_entropy(logits, mask)
    torch.testing.assert_close(moved, found, rtol=0, atol=1e-5)
    assert token_entropy(logits.half(), mask).dtype == torch.float32


@pytest.mark.parametrize("function", [token_entropy, lambda x, m: token_log_probs(x, m.long(), m)])
def test_gradients(function: object) -> None:
    assert callable(function)
    mask = torch.tensor([[True, True, False]])
    logits = _logits(1, 3, 5).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: function(x, mask), (logits,))
    for garbage in GARBAGE:
        dirty = torch.where(mask.unsqueeze(-1), logits.detach(), garbage).requires_grad_()
        out = function(dirty, mask)
        assert out.equal(function(logits, mask))
        (gradient,) = torch.autograd.grad(out.sum(), dirty)
        assert not gradient[~mask].any()
        assert gradient.equal(torch.autograd.grad(function(logits, mask).sum(), logits)[0])


def test_forbidden_tokens_have_no_gradient() -> None:
    logits = _logits(1, 4)
    logits[0, 2] = -math.inf
    logits.requires_grad_()
    (gradient,) = torch.autograd.grad(token_entropy(logits, ONE).sum(), logits)
    assert gradient.isfinite().all()
    assert gradient[0, 2] == 0.0


def test_the_bonus_raises_entropy() -> None:
    logits = _logits(2, 3, 6).requires_grad_()
    mask = torch.tensor([[True, True, False], [True, False, False]])
    before = token_entropy(logits, mask).detach()
    optimiser = torch.optim.SGD([logits], lr=0.5)
    torch.autograd.backward(-entropy_bonus(logits, mask))
    optimiser.step()
    after = token_entropy(logits, mask)
    assert (after > before)[mask].all()
    assert logits[~mask].equal(_logits(2, 3, 6)[~mask])
    mean = entropy_bonus(logits, mask, averaging="per_turn")
    by_hand = ((after[0, 0] + after[0, 1]) / 2 + after[1, 0]) / 2
    torch.testing.assert_close(mean, by_hand)


def test_the_surprisal_of_old_actions_is_not_their_entropy() -> None:
    """Raising −log π of what was done pushes that down; raising entropy need not."""
    logits = torch.tensor([[0.0, 2.0]], dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(token_entropy(logits, ONE).sum(), logits)
    surprisal = -token_log_probs(logits, torch.tensor([0]), ONE).sum()
    (other,) = torch.autograd.grad(surprisal, logits)
    assert gradient[0, 0] > 0 > other[0, 0]  # the rare action 0 was done: opposite directions


# Divergence --------------------------------------------------------------------------------------


def test_exact_divergence_by_hand() -> None:
    # π = (½, ½), ref = (¼, ¾): ½·log 2 + ½·log ⅔
    new = torch.zeros(1, 2, dtype=torch.float64)
    reference = torch.tensor([[1.0, 3.0]], dtype=torch.float64).log()
    expected = 0.5 * math.log(2) + 0.5 * math.log(2 / 3)
    assert exact_kl(new, reference, ONE).item() == pytest.approx(expected, rel=1e-12)
    assert exact_kl(new, new, ONE).item() == 0.0
    forbidden = torch.tensor([[0.0, -math.inf]], dtype=torch.float64)
    assert exact_kl(forbidden, new, ONE).item() == pytest.approx(math.log(2))
    assert exact_kl(new, forbidden, ONE).item() == math.inf


def _expected(estimator: KlEstimator, logits: Tensor, reference: Tensor) -> Tensor:
    """The estimator's mean over π, every token of the vocabulary weighed by its probability."""
    words = torch.arange(logits.shape[-1])
    mask = torch.ones_like(words).bool()
    new = token_log_probs(logits.expand(len(words), -1), words, mask)
    old = token_log_probs(reference.expand(len(words), -1), words, mask)
    return (new.exp().detach() * estimated_kl(new, old, mask, estimator)).sum()


@pytest.mark.parametrize("estimator", ["k1", "k3"])
def test_estimates_are_right_on_average(estimator: KlEstimator) -> None:
    logits, reference = _logits(1, 7), _logits(1, 7, seed=1)
    exact = exact_kl(logits, reference, ONE).sum()
    torch.testing.assert_close(_expected(estimator, logits, reference), exact)


def test_as_losses_k1_pulls_nowhere_and_k3_towards_the_reference() -> None:
    logits, reference = _logits(1, 7).requires_grad_(), _logits(1, 7, seed=1)
    (nowhere,) = torch.autograd.grad(_expected("k1", logits, reference), logits)
    (towards,) = torch.autograd.grad(_expected("k3", logits, reference), logits)
    p, q = torch.softmax(reference, -1), torch.log_softmax(logits, -1)
    (wanted,) = torch.autograd.grad((p * (p.log() - q)).sum(), logits)  # ∇KL(ref ‖ π)
    assert nowhere.abs().max() < 1e-12
    torch.testing.assert_close(towards, wanted)


def test_k3_is_never_negative_and_padding_is_nothing() -> None:
    new = torch.tensor([-1.0, -2.0, math.nan, -50.0], requires_grad=True)
    old = torch.tensor([-2.0, -1.0, math.inf, -1.0], requires_grad=True)
    mask = torch.tensor([True, True, False, True])
    found = estimated_kl(new, old, mask)
    assert (found >= 0).all()
    assert found[2] == 0.0
    assert found.isfinite().all()
    torch.autograd.backward(kl_penalty(found, mask))
    assert new.grad is not None
    assert new.grad[2] == 0.0
    assert old.grad is None


def test_divergence_gradients_reach_the_policy_only() -> None:
    mask = torch.tensor([True, False])
    logits, reference = _logits(2, 4).requires_grad_(), _logits(2, 4, seed=1).requires_grad_()
    fixed = reference.detach()
    assert torch.autograd.gradcheck(lambda x: exact_kl(x, fixed, mask), (logits,))
    torch.autograd.backward(exact_kl(logits, reference, mask).sum())
    assert reference.grad is None
    assert logits.grad is not None
    assert not logits.grad[1].any()
