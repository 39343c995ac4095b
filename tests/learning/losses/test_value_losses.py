"""The critic's losses: numbers by hand, and a gradient for the heads and nothing else."""

from __future__ import annotations

import math

import pytest
import torch
from tests.learning.definitions import GARBAGE
from torch import Tensor, nn

from distrl.errors import InvalidSetting
from distrl.learning.losses.value_losses import (
    Regression,
    minimum_of_heads,
    success_cross_entropy,
    value_regression,
)
from distrl.learning.targets.retrace import retrace

MASK = torch.tensor([[True, True, False]])


def _row(*numbers: float) -> Tensor:
    return torch.tensor([numbers], dtype=torch.float64)


def test_cross_entropy_by_hand() -> None:
    # V = (½, ¾) against y = (1, 0): (log 2 + log 4) / 2
    logits = _row(0.0, math.log(3), math.nan)
    found = success_cross_entropy(logits, _row(1.0, 0.0, math.nan), MASK)
    assert found.item() == pytest.approx(1.5 * math.log(2))
    # a soft target is met in the middle: y = V leaves no gradient
    soft = _row(0.5, 0.75, 0.0)
    settled = logits.nan_to_num().requires_grad_()
    (gradient,) = torch.autograd.grad(success_cross_entropy(settled, soft, MASK), settled)
    assert gradient.abs().max() < 1e-12


def test_targets_beyond_one_still_have_a_minimum() -> None:
    logits = _row(50.0, -50.0, 0.0)
    assert success_cross_entropy(logits, _row(1.3, -0.2, 0.0), MASK).item() >= 0.0


@pytest.mark.parametrize(
    ("kind", "delta", "loss"),
    [
        ("squared", 1.0, (0.5 * 0.25 + 0.5 * 9) / 2),
        ("huber", 1.0, (0.5 * 0.25 + (3 - 0.5)) / 2),
        ("huber", 0.25, (0.25 * (0.5 - 0.125) + 0.25 * (3 - 0.125)) / 2),
        ("huber", 10.0, (0.5 * 0.25 + 0.5 * 9) / 2),
    ],
)
def test_regression_by_hand(kind: Regression, delta: float, loss: float) -> None:
    # V − v = (0.5, −3)
    values, targets = _row(1.0, 0.0, math.inf), _row(0.5, 3.0, -math.inf)
    found = value_regression(values, targets, MASK, kind=kind, delta=delta)
    assert found.item() == pytest.approx(loss, rel=1e-12)


def test_a_delta_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="delta"):
        value_regression(_row(1.0), _row(1.0), MASK[:, :1], delta=0.0)


def test_two_heads_learn_apart_and_speak_through_the_lower() -> None:
    heads = torch.tensor([[[0.2, 0.7], [0.9, 0.1], [math.nan, math.nan]]], dtype=torch.float64)
    targets = _row(1.0, 0.0, math.nan)
    assert minimum_of_heads(heads)[0, :2].tolist() == [0.2, 0.1]
    for loss in (value_regression, success_cross_entropy):
        both = loss(heads, targets, MASK)
        apart = loss(heads[..., 0], targets, MASK) + loss(heads[..., 1], targets, MASK)
        torch.testing.assert_close(both, apart)


@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("loss", [value_regression, success_cross_entropy])
def test_padding_changes_nothing(loss: object, garbage: float) -> None:
    assert callable(loss)
    clean, targets = _row(0.3, -0.4, 0.0).requires_grad_(), _row(0.1, 0.9, 0.0)
    dirty = torch.where(MASK, clean.detach(), garbage).requires_grad_()
    found = loss(dirty, torch.where(MASK, targets, garbage), MASK)
    expected = loss(clean, targets, MASK)
    assert found.equal(expected)
    (gradient,) = torch.autograd.grad(found, dirty)
    assert gradient.equal(torch.autograd.grad(expected, clean)[0])
    assert torch.autograd.gradcheck(lambda x: loss(x, targets, MASK), (clean,))


@pytest.mark.parametrize("loss", [value_regression, success_cross_entropy])
def test_the_gradient_goes_through_predictions_and_not_through_targets(loss: object) -> None:
    """Targets made from the very heads that learn, and not detached by the caller."""
    assert callable(loss)
    torch.manual_seed(0)
    trunk, heads, policy = (nn.Linear(4, n, dtype=torch.float64) for n in (4, 2, 3))
    screens = torch.randn(1, 4, 4, dtype=torch.float64)  # three steps and the final screen
    mask, cut = torch.ones(1, 3).bool(), torch.ones(1).bool()

    def gradients(*, detached: bool) -> list[Tensor | None]:
        seen = trunk(screens).detach()  # the representation is the policy's own: heads only
        opinions = heads(seen)
        ratios = policy(seen).exp()[:, :3, 0]
        rewards = torch.tensor([[0.0, 0.0, 1.0]], dtype=torch.float64)
        targets = retrace(minimum_of_heads(opinions), rewards, ratios, mask, cut, 0.9, 0.9)
        targets = targets.detach() if detached else targets
        parts = [*heads.parameters(), *policy.parameters(), *trunk.parameters()]
        found = loss(opinions[:, :3], targets, mask)
        return list(torch.autograd.grad(found, parts, allow_unused=True))

    ours, wanted = gradients(detached=False), gradients(detached=True)
    for mine, right in zip(ours[:2], wanted[:2], strict=True):
        assert mine is not None
        assert right is not None
        assert mine.any()
        assert mine.equal(right)
    assert ours[2:] == [None] * 4


def test_one_step_moves_the_heads_towards_the_target() -> None:
    values = _row(0.2, 0.9, 0.5).requires_grad_()
    optimiser = torch.optim.SGD([values], lr=0.5)
    torch.autograd.backward(value_regression(values, _row(1.0, 0.0, 9.0), MASK))
    optimiser.step()
    assert values[0].tolist() == pytest.approx([0.4, 0.675, 0.5])  # ½ of the way, of ½ each
