"""What the critic minimises: cross-entropy on success, or regression to the targets.

Predictions are [batch, time] from one head or [batch, time, heads] from several; each head learns
from the same targets, and the losses of the heads add up. Targets are detached here, whatever the
caller did, so that the gradient reaches the heads (and what is below them) and nothing else.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from distrl.errors import InvalidSetting
from distrl.learning.losses.averages import Total, step_mean

Regression = Literal["huber", "squared"]


def minimum_of_heads(heads: Tensor) -> Tensor:
    """The lowest value of all heads, [batch, time]: counters overestimation by a single head."""
    return heads.amin(-1)


def success_cross_entropy(
    logits: Tensor,  # [batch, time] or [batch, time, heads]: V = sigmoid(logits)
    targets: Tensor,  # [batch, time]: success as 0 or 1, or a soft target in between
    mask: Tensor,  # [batch, time]
    total: Total = None,
) -> Tensor:
    """−E[y·log V + (1 − y)·log(1 − V)].

    Targets are held to [0, 1] (step costs can push them out): beyond it there is no minimum.
    """
    predicted, wanted = _aligned(logits, targets, mask)
    losses = functional.binary_cross_entropy_with_logits(
        predicted, wanted.clamp(0.0, 1.0), reduction="none"
    )
    return step_mean(losses.sum(-1), mask, total)


def value_regression(
    values: Tensor,  # [batch, time] or [batch, time, heads]
    targets: Tensor,  # [batch, time]
    mask: Tensor,  # [batch, time]
    *,
    kind: Regression = "huber",
    delta: float = 1.0,
    total: Total = None,
) -> Tensor:
    """E[½·(V − v)²], or Huber's: the same up to |V − v| = δ, a straight line beyond."""
    if not delta > 0.0:
        raise InvalidSetting(f"delta={delta!r}; give a number above 0")
    predicted, wanted = _aligned(values, targets, mask)
    if kind == "huber":
        losses = functional.huber_loss(predicted, wanted, reduction="none", delta=delta)
    else:
        losses = 0.5 * (predicted - wanted).square()
    return step_mean(losses.sum(-1), mask, total)


def _aligned(predictions: Tensor, targets: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Predictions and their targets as [batch, time, heads], 0 at padding."""
    heads = predictions.unsqueeze(-1) if predictions.dim() == mask.dim() else predictions
    real = mask.unsqueeze(-1)
    predicted = torch.where(real, heads, 0.0)
    wanted = torch.where(real, targets.detach().unsqueeze(-1), 0.0)
    return predicted, wanted.to(predicted.dtype).expand_as(predicted)
