"""What an actor-critic can be asked after an update: is the data still its own, is it right?

    ratio_…                 quantiles of π/μ over turns: how far the policy is from those who acted
    clip_fraction           share of turns whose ratio is above the cap, by more than rounding
    effective_sample_share  (Σ ρ)² / Σ ρ² over the number of turns: 1 on-policy
    entropy, invalid_rate   nats per token, and the share of answers that could not be read
    brier_score             E[(V − success)²]; 0.25 for a critic that always says one half
    reliability_gap         how far success rates lie from the values before them, in ten bins
    explained_variance      1 − Var(v − V) / Var(v): how much of the targets the critic knew

V is a discounted success probability of the policy in training, and successes are those of who
acted: on old data, or with a discount, a perfect critic has a gap too.
"""

from __future__ import annotations

import torch
from torch import Tensor

from distrl.learning.batch import Batch
from distrl.learning.gradient_step import BatchScores
from distrl.learning.losses.averages import step_mean, token_mean
from distrl.learning.targets.ratios import clip_fraction, effective_sample_size, per_turn, quantiles

RATIO_QUANTILES = {"ratio_p05": 0.05, "ratio_p50": 0.5, "ratio_p95": 0.95, "ratio_max": 1.0}
BINS = 10


def actor_critic_gauges(
    batch: Batch,
    current: BatchScores,
    targets: Tensor,  # [b, t]
    cap: float,  # of the ratios in the policy loss
) -> dict[str, float]:
    """All of them, for what an update saw before it moved."""
    values = current.values[:, :-1]
    outcomes = batch.outcomes.unsqueeze(1).expand_as(values).to(values)
    ratios = per_turn(current.log_probs, batch.behaviour_log_probs, batch.token_mask)
    at_quantiles = quantiles(ratios, batch.mask, tuple(RATIO_QUANTILES.values())).tolist()
    return {
        **dict(zip(RATIO_QUANTILES, at_quantiles, strict=True)),
        "clip_fraction": float(clip_fraction(ratios, batch.mask, high=cap)),
        "effective_sample_share": float(
            effective_sample_size(ratios, batch.mask) / batch.mask.sum()
        ),
        "entropy": float(token_mean(current.entropies, batch.token_mask)),
        "invalid_rate": float(step_mean(batch.invalid, batch.mask)),
        "brier_score": float(step_mean((values - outcomes).square(), batch.mask)),
        "reliability_gap": reliability_gap(values[batch.mask], outcomes[batch.mask]),
        "explained_variance": explained_variance(values[batch.mask], targets[batch.mask]),
    }


def reliability_gap(values: Tensor, outcomes: Tensor) -> float:  # [n], [n]
    """Σ_bins (share of the bin)·|mean value − success rate|, over bins of equal width."""
    bins = (values * BINS).long().clamp(0, BINS - 1)
    excess = values.new_zeros(BINS).index_add(0, bins, values - outcomes)
    return float(excess.abs().sum() / max(1, len(values)))


def explained_variance(values: Tensor, targets: Tensor) -> float:  # [n], [n]
    """1 − Var(v − V) / Var(v); 0 where the targets do not vary."""
    spread = torch.var(targets, correction=0)
    left = torch.var(targets - values, correction=0)
    return float(1.0 - left / spread) if float(spread) > 1e-12 else 0.0
