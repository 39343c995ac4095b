"""Masked means over real tokens, turns and steps, with an explicit weighting.

Answers differ in length, so "the mean" is a choice: `per_token` gives every token the same weight
(long turns count more), `per_turn` every turn (its tokens share it), `whole_turn` sums the tokens
of a turn before the mean over turns, which is the log-probability of the turn as in the equations.
Turns without real tokens do not count. A mean over nothing is 0.

`total` replaces the divisor by that of a whole batch, so that the losses of micro-batches add up
exactly to the loss of the batch: compute it once with `count` and pass it for each of them.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

Averaging = Literal["per_token", "per_turn", "whole_turn"]
Total = Tensor | float | None


def count(token_mask: Tensor, averaging: Averaging = "per_token") -> Tensor:
    """Return the divisor of the mean: the number of tokens, or of turns with tokens."""
    return token_mask.sum() if averaging == "per_token" else token_mask.any(-1).sum()


def token_mean(
    per_token: Tensor,  # [..., tokens]
    token_mask: Tensor,  # [..., tokens]
    averaging: Averaging = "per_token",
    total: Total = None,
) -> Tensor:
    """Return the mean of a per-token quantity over real tokens or turns, by `averaging`."""
    real = torch.where(token_mask, per_token, 0.0)
    if averaging == "per_turn":
        real = real / token_mask.sum(-1, keepdim=True).clamp(min=1)
    return real.sum() / _divisor(count(token_mask, averaging), total)


def step_mean(
    per_step: Tensor,  # [batch, time]
    mask: Tensor,  # [batch, time]
    total: Total = None,
) -> Tensor:
    """Return the mean of a per-step quantity over real steps."""
    return torch.where(mask, per_step, 0.0).sum() / _divisor(mask.sum(), total)


def minimum_of_heads(heads: Tensor) -> Tensor:  # [..., heads] -> [...]
    """Return the minimum over the heads of a critic, against overestimation by a single head."""
    return heads.amin(-1)


def _divisor(own: Tensor, total: Total) -> Tensor | float:
    return own.clamp(min=1) if total is None else total
