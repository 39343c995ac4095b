"""The ratios of a batch to the policies that acted in it, at the level that an algorithm is set to.

`none` is a level too: every ratio is 1, and old data is taken at face value. It is there to be
compared with.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from distrl.learning.batch import Batch
from distrl.learning.gradient_step import BatchScores
from distrl.learning.targets.ratios import RatioLevel, at_level, length_normalised, per_turn

Correction = RatioLevel | Literal["none"]


def turn_ratios(correction: Correction, batch: Batch, current: BatchScores) -> Tensor:  # [b, t]
    """One for each turn, for traces and critics; at the level `token` that of the whole turn."""
    if correction == "none":
        return torch.ones_like(current.values[:, :-1])
    ratio = length_normalised if correction == "length_normalised" else per_turn
    return ratio(current.log_probs, batch.behaviour_log_probs, batch.token_mask)


def token_ratios(correction: Correction, batch: Batch, current: BatchScores) -> Tensor:  # [b, t, k]
    """One for each token, for policy losses."""
    if correction == "none":
        return torch.ones_like(current.log_probs)
    return at_level(correction, current.log_probs, batch.behaviour_log_probs, batch.token_mask)
