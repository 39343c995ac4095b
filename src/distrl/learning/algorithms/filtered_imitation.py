"""Imitation behind a filter, and a critic beside it: what filtered cloning and DigiRL minimise.

    L_π = −Σ w_t·log π(a_t|s_t) / |{t: w_t > 0}|            w is 0 for what is not to be imitated
    L_V = −E[y·log V(s_t) + (1 − y)·log(1 − V(s_t))]        y = 1{success}, over every step

The critic learns from everything, the policy from what the filter lets through. The mean is over
what was kept, so that a hard filter does not make the steps small.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from distrl.agent.trainable_policy import Scores
from distrl.learning.algorithms.critic_objective import CriticObjective
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import Losses
from distrl.learning.losses.averages import Averaging, count
from distrl.learning.losses.policy_losses import imitation


@dataclass(frozen=True, slots=True, eq=False)
class FilteredImitation:
    """The losses for n turns in reading order."""

    weights: Tensor  # [n]: 0 where a turn is not imitated
    critic: CriticObjective
    total: Tensor  # what the mean is over: kept tokens or turns, of the whole batch
    averaging: Averaging

    @classmethod
    def of(cls, batch: Batch, weights: Tensor, averaging: Averaging) -> FilteredImitation:
        """For weights [b, t]."""
        kept_tokens = batch.token_mask & (weights > 0.0).unsqueeze(-1)
        outcomes = batch.outcomes.unsqueeze(1).expand_as(batch.mask)
        draws = batch.weights.unsqueeze(1).expand_as(batch.mask)
        return cls(
            weights=batch.gather(weights),
            critic=CriticObjective("cross_entropy", batch.gather(outcomes), batch.gather(draws)),
            total=count(kept_tokens, averaging).clamp(min=1),
            averaging=averaging,
        )

    def __call__(self, scores: Scores, turns: Tensor) -> Losses:
        policy = imitation(
            scores.log_probs,
            scores.token_mask,
            weights=self.weights[turns].to(scores.log_probs),
            averaging=self.averaging,
            total=self.total,
        )
        return {"policy": policy, "value": self.critic(scores.value_logits, turns)}


def among_the_best(scores: Tensor, among: Tensor, share: float) -> Tensor:
    """Where a score reaches that of the best `share` of those that `among` marks, [b] bool."""
    ranked = scores[among].sort(descending=True).values
    enough = max(1, round(share * len(ranked)))
    return scores >= ranked[enough - 1]
