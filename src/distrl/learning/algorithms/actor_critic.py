"""Shared parts of the actor-critic algorithms: ratios at a chosen level, losses and metrics.

    L_V = Σ_t w_t·ℓ(V(s_t), v_t) / turns of the batch, for each head alone; their losses are added

`cross_entropy` treats the target as a soft label in [0, 1]. Retrace's target lies there if all
rewards but the last are 0; costs can push it out, so it is clamped. The gradient with respect to
the logit is V − v, which does not vanish for confident predictions. `squared` and `huber` regress V
itself, and their gradients vanish with V·(1 − V). All have their minimum where V is the weighted
mean of v, for targets no further from it than 1.

Metrics, from the scores of a batch before the update:

    ratio_…                 quantiles of π/μ over turns: how far the policy is from those that acted
    clip_fraction           share of turns whose ratio exceeds the cap by more than rounding
    effective_sample_share  (Σ ρ)² / Σ ρ² over the number of turns: 1 on-policy
    entropy, invalid_rate   nats per token, and the share of answers that could not be read
    brier_score             E[(V − G)²], of values and observed outcomes
    reliability_gap         distance of the mean of G from the mean of V, in ten bins of V
    measured_advantages     share of turns whose advantage is measured (forks, matched screens)
    explained_variance      1 − Var(v − V) / Var(v): how much of the targets the critic predicted

G is the observed outcome that V predicts, in the same units (`value_outcomes`): the discounted
return with its costs, or success where that is the critic's target. A perfect critic has no gap,
whatever the discount. On old data it may have one, since G comes from the policies that acted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from distrl.agent.trainable_policy import Scores
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import BatchScores, Losses
from distrl.learning.losses.averages import Averaging, step_mean, token_mean
from distrl.learning.losses.policy_losses import estimated_kl, policy_gradient
from distrl.learning.targets.advantages import fork_advantage
from distrl.learning.targets.ratios import (
    RatioLevel,
    at_level,
    clip_fraction,
    effective_sample_size,
    length_normalised,
    per_turn,
    quantiles,
    truncate,
)
from distrl.learning.targets.retrace import monte_carlo

Correction = RatioLevel | Literal["none"]  # none: every ratio is 1, as an ablation
ValueLoss = Literal["cross_entropy", "squared", "huber"]
RATIO_QUANTILES = {"ratio_p05": 0.05, "ratio_p50": 0.5, "ratio_p95": 0.95, "ratio_max": 1.0}
BINS = 10


def turn_ratios(correction: Correction, batch: Batch, current: BatchScores) -> Tensor:  # [b, t]
    """Return a ratio per turn, for traces and critics; for `token` the ratio of the whole turn."""
    if correction == "none":
        return torch.ones_like(current.values[:, :-1])
    ratio = length_normalised if correction == "length_normalised" else per_turn
    return ratio(current.log_probs, batch.behaviour_log_probs, batch.token_mask)


def token_ratios(correction: Correction, batch: Batch, current: BatchScores) -> Tensor:  # [b, t, k]
    """Return a ratio per token, for policy losses."""
    if correction == "none":
        return torch.ones_like(current.log_probs)
    return at_level(correction, current.log_probs, batch.behaviour_log_probs, batch.token_mask)


def with_measured_advantages(batch: Batch, advantages: Tensor, discount: float) -> Tensor:  # [b, t]
    """Replace the advantages of steps from which other trajectories continued by measured ones."""
    found = advantages.clone()
    for each in batch.continuations:
        found[each.row, each.column] = fork_advantage(each.own, each.others, discount)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class CriticObjective:
    """The value loss for n turns in reading order."""

    kind: ValueLoss
    targets: Tensor  # [n]
    weights: Tensor  # [n]

    @classmethod
    def of(
        cls, kind: ValueLoss, batch: Batch, targets: Tensor, weights: Tensor | float = 1.0
    ) -> CriticObjective:
        """Build it from targets [b, t]; weights [b, t] multiply those of prioritised draws."""
        return cls(kind, batch.gather(targets), batch.gather(weights * batch.draw_weights))

    def __call__(self, value_logits: Tensor, turns: Tensor) -> Tensor:  # [m, heads], [m]
        wanted = self.targets[turns].detach().to(value_logits).unsqueeze(-1).expand_as(value_logits)
        weights = self.weights[turns].detach().to(value_logits).unsqueeze(-1)
        return (weights * self._losses(value_logits, wanted)).sum() / len(self.targets)

    def _losses(self, logits: Tensor, wanted: Tensor) -> Tensor:
        if self.kind == "cross_entropy":
            return functional.binary_cross_entropy_with_logits(
                logits, wanted.clamp(0.0, 1.0), reduction="none"
            )
        if self.kind == "huber":
            return functional.huber_loss(logits.sigmoid(), wanted, reduction="none")
        return 0.5 * torch.square(logits.sigmoid() - wanted)


@dataclass(frozen=True, slots=True, eq=False)
class ActorCriticObjective:
    """The losses of A-RIDE and V-trace for n turns in reading order; see their equations."""

    critic: CriticObjective
    advantages: Tensor  # [n]
    draws: Tensor  # [n]: weights of prioritised draws
    total: Tensor  # tokens or turns of the whole batch
    averaging: Averaging
    value_weight: float
    entropy_weight: float
    ratios: Tensor  # [n, k]: weights of the policy's terms; 1 if the advantages contain them
    ratio_cap: float = 1.0
    invalid: Tensor | None = None  # [n]: 1 where the answer could not be read; None: no such term
    invalid_weight: float = 0.0
    reference_log_probs: Tensor | None = None  # [n, k]; None: no KL term
    kl_weight: float = 0.0

    def __call__(self, scores: Scores, turns: Tensor) -> Losses:
        log_probs, token_mask = scores.log_probs, scores.token_mask
        averaging, total = self.averaging, self.total.to(log_probs)
        draws = self.draws[turns].to(log_probs).unsqueeze(-1)  # [m, 1]
        entropy = token_mean(scores.entropies * draws, token_mask, averaging, total)
        losses = {
            "policy": self._gradient(scores, turns, self.advantages),
            "value": self.value_weight * self.critic(scores.value_logits, turns),
            "entropy": -self.entropy_weight * entropy,
        }
        if self.invalid is not None:
            losses["invalid"] = self.invalid_weight * self._gradient(scores, turns, -self.invalid)
        if self.reference_log_probs is not None:
            reference = beside(scores, self.reference_log_probs, turns)
            weights = truncate(beside(scores, self.ratios, turns), self.ratio_cap) * draws
            divergences = weights * estimated_kl(log_probs, reference, token_mask)
            losses["kl"] = self.kl_weight * token_mean(divergences, token_mask, averaging, total)
        return losses

    def _gradient(self, scores: Scores, turns: Tensor, advantages: Tensor) -> Tensor:
        log_probs = scores.log_probs
        return policy_gradient(
            log_probs,
            advantages[turns].to(log_probs) * self.draws[turns].to(log_probs),
            scores.token_mask,
            ratios=beside(scores, self.ratios, turns),
            cap=self.ratio_cap,
            averaging=self.averaging,
            total=self.total.to(log_probs),
        )


def beside(scores: Scores, token_values: Tensor, turns: Tensor) -> Tensor:
    """Return the rows of [n, k] for these turns, with the width, device and dtype of the scores."""
    return token_values[turns, : scores.log_probs.shape[1]].to(scores.log_probs)


def actor_critic_metrics(
    batch: Batch,
    current: BatchScores,
    targets: Tensor,  # [b, t]
    outcomes: Tensor,  # [b, t]: what the values predict
    cap: float,  # of the ratios in the policy loss
) -> dict[str, float]:
    """Return the metrics that the module describes, from the scores before the update."""
    values = current.values[:, :-1]
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
        "measured_advantages": len(batch.continuations) / float(batch.mask.sum()),
        "explained_variance": explained_variance(values[batch.mask], targets[batch.mask]),
    }


def value_outcomes(batch: Batch, current: BatchScores, discount: float) -> Tensor:  # [b, t]
    """Return G_t, the discounted return after each step, clamped to [0, 1] like the values.

    Truncated trajectories are bootstrapped from the value of their last screen.
    """
    returns = monte_carlo(**batch.with_values(current.values), discount=discount)
    return returns.clamp(0.0, 1.0)


def reliability_gap(values: Tensor, outcomes: Tensor) -> float:  # [n], [n]
    """Return Σ_bins (share of the bin)·|mean value − mean outcome|, over bins of equal width.

    It is 0 for a calibrated critic.
    """
    bins = (values * BINS).long().clamp(0, BINS - 1)
    excess = torch.zeros(BINS, dtype=torch.float64).index_add(0, bins, (values - outcomes).double())
    return float(excess.abs().sum() / max(1, len(values)))


def explained_variance(values: Tensor, targets: Tensor) -> float:  # [n], [n]
    """Return 1 − Var(v − V) / Var(v); 0 if the targets do not vary."""
    spread = torch.var(targets, correction=0)
    left = torch.var(targets - values, correction=0)
    return float(1.0 - left / spread) if float(spread) > 1e-12 else 0.0
