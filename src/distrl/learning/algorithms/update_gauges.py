"""What every algorithm reports the same way: where a batch stood before the update moved anything.

Ratios, errors, entropies and values are those of the survey, so that priorities of different
algorithms can be compared; the losses and norms are what the update itself saw.
"""

from __future__ import annotations

import torch
from torch import Tensor

from distrl.learning.algorithms.algorithm import UpdateReport
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import BatchScores
from distrl.learning.targets.ratios import clip_fraction, per_turn
from distrl.learning.targets.retrace import td_errors


def update_report(
    batch: Batch,
    current: BatchScores,
    advantages: Tensor,  # [b, t], 0 at padding
    losses: dict[str, float],
    norms: dict[str, float],
    *,
    discount: float,
    cap: float = 1.0,
    **gauges: float,
) -> UpdateReport:
    """The report of an update; `gauges` are those that only this algorithm has."""
    ratios = per_turn(current.log_probs, batch.behaviour_log_probs, batch.token_mask)
    tokens = batch.token_mask.sum(-1).clamp(min=1)
    return UpdateReport(
        losses=losses,
        gradient_norms=norms,
        td_errors=td_errors(current.values, batch.rewards, batch.mask, batch.bootstrap, discount),
        ratios=ratios,
        entropies=torch.where(batch.token_mask, current.entropies, 0.0).sum(-1) / tokens,
        values=torch.where(batch.mask, current.values[:, :-1], 0.0),
        advantages=advantages,
        gauges={"clip_fraction": float(clip_fraction(ratios, batch.mask, high=cap)), **gauges},
    )
