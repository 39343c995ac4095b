"""REINFORCE: raise what did better than the mean of the batch, lower the rest.

G_t = r_t + γ·G_{t+1},   A_t = G_t − mean of G over the batch
L_π = −E[A_t·log π(a_t|s_t)],   L_V = cross-entropy of V(s_t) against G_t
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from distrl.agent.trainable_policy import Scores
from distrl.bounds import Bounds, Checked
from distrl.learning.algorithms.actor_critic import CriticObjective
from distrl.learning.algorithms.algorithm import PlannedAlgorithm, UpdatePlan
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import BatchScores, GradientStep, Losses
from distrl.learning.losses.averages import count, step_mean
from distrl.learning.losses.policy_losses import policy_gradient
from distrl.learning.targets.retrace import monte_carlo


@dataclass(frozen=True, slots=True)
class ReinforceSettings(Checked):
    discount: Annotated[float, Bounds(0.0, 1.0, "per step")] = 0.95  # γ


@dataclass(eq=False)
class Reinforce(PlannedAlgorithm):
    step: GradientStep
    settings: ReinforceSettings = ReinforceSettings()

    @property
    def discount(self) -> float:
        return self.settings.discount

    def plan(self, batch: Batch, current: BatchScores) -> UpdatePlan:
        returns = monte_carlo(**batch.with_values(current.values), discount=self.discount)
        advantages = torch.where(batch.mask, returns - step_mean(returns, batch.mask), 0.0)
        objective = ReinforceObjective(
            critic=CriticObjective.of("cross_entropy", batch, returns),
            advantages=batch.gather(advantages * batch.draw_weights),
            total=count(batch.token_mask, "whole_turn").clamp(min=1),
        )
        return UpdatePlan(objective, advantages)


@dataclass(frozen=True, slots=True, eq=False)
class ReinforceObjective:
    critic: CriticObjective
    advantages: Tensor  # [n], of all turns of the batch in reading order
    total: Tensor  # turns of the whole batch

    def __call__(self, scores: Scores, turns: Tensor) -> Losses:
        policy = policy_gradient(
            scores.log_probs,
            self.advantages[turns].to(scores.log_probs),
            scores.token_mask,
            averaging="whole_turn",
            total=self.total,
        )
        return {"policy": policy, "value": self.critic(scores.value_logits, turns)}


def reinforce(step: GradientStep, discount: float = 0.95) -> Reinforce:
    """What `learning.algorithm = "reinforce"` means, with `learning.options.discount`."""
    return Reinforce(step, ReinforceSettings(discount))
