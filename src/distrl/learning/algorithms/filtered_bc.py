"""Filtered behaviour cloning: imitate successful trajectories only.

    keep(τ) = 1{τ succeeded} · 1{R(τ) is among the best `share` of the successes of the batch}
    L_π     = −Σ keep(τ)·w(τ)·log π(a_t|s_t) / Σ keep(τ)       over all tokens of all steps
    L_V     = −E[y·log V(s_t) + (1 − y)·log(1 − V(s_t))],       y = 1{τ succeeded}

R is the return with its costs, so that the shorter of two successes ranks higher; w corrects for
prioritised draws. There are no ratios: the policy imitates the successes of the acting policies,
however old those are. The mean is over kept tokens, so that a hard filter does not shrink the
gradient. The critic learns from every step and does not affect the policy; it provides priorities,
and it is ready when another algorithm takes over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from distrl.agent.trainable_policy import Scores
from distrl.bounds import Bounds, Checked, Fixed
from distrl.learning.algorithms.actor_critic import CriticObjective
from distrl.learning.algorithms.algorithm import PlannedAlgorithm, UpdatePlan
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import BatchScores, GradientStep, Losses
from distrl.learning.losses.averages import Averaging, count
from distrl.learning.losses.policy_losses import policy_gradient


@dataclass(frozen=True, slots=True)
class FilteredBcSettings(Checked):
    """Which successes are imitated, and how their tokens are weighted."""

    share: Annotated[
        float, Bounds(0.0, 1.0, "of a batch's successes, best returns first", open=True)
    ] = 1.0
    averaging: Annotated[Averaging, Fixed("imitation averages over tokens")] = "per_token"


@dataclass(eq=False)
class FilteredBc(PlannedAlgorithm):
    """Imitates the best successes of each batch."""

    step: GradientStep
    settings: FilteredBcSettings = FilteredBcSettings()

    def plan(self, batch: Batch, current: BatchScores) -> UpdatePlan:
        kept = kept_successes(batch, self.settings.share)  # [b]
        weights = batch.mask * (kept * batch.weights).unsqueeze(1)  # [b, t]
        return UpdatePlan(
            loss=FilteredImitation.of(batch, weights, self.settings.averaging),
            advantages=weights,
            metrics={"kept_share": float(kept.mean())},
            policy_moves=bool(kept.any()),
        )


def kept_successes(batch: Batch, share: float) -> Tensor:
    """Return 1 for the trajectories to imitate, else 0, [b]; ties are kept or dropped together."""
    successes = batch.outcomes > 0.5
    if not bool(successes.any()):
        return torch.zeros_like(batch.outcomes)
    returns = torch.where(batch.mask, batch.rewards, 0.0).sum(1)
    return (successes & among_the_best(returns, successes, share)).to(batch.outcomes.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class FilteredImitation:
    """The losses of filtered imitation for n turns in reading order; DigiRL uses it too."""

    weights: Tensor  # [n]: 0 where a turn is not imitated
    critic: CriticObjective
    total: Tensor  # divisor of the mean: kept tokens or turns of the whole batch
    averaging: Averaging

    @classmethod
    def of(cls, batch: Batch, weights: Tensor, averaging: Averaging) -> FilteredImitation:
        """Build it from weights [b, t]."""
        kept_tokens = batch.token_mask & (weights > 0.0).unsqueeze(-1)
        return cls(
            weights=batch.gather(weights),
            critic=CriticObjective.of("cross_entropy", batch, batch.step_outcomes),
            total=count(kept_tokens, averaging).clamp(min=1),
            averaging=averaging,
        )

    def __call__(self, scores: Scores, turns: Tensor) -> Losses:
        policy = policy_gradient(
            scores.log_probs,
            self.weights[turns].to(scores.log_probs),
            scores.token_mask,
            averaging=self.averaging,
            total=self.total,
        )
        return {"policy": policy, "value": self.critic(scores.value_logits, turns)}


def among_the_best(scores: Tensor, among: Tensor, share: float) -> Tensor:
    """Return which scores reach the best `share` of the scores marked in `among`, [b] bool."""
    ranked = scores[among].sort(descending=True).values
    enough = max(1, round(share * len(ranked)))
    return scores >= ranked[enough - 1]
