"""PPO, and its decoupled form for off-policy data.

    δ_t = r_t + γ·V(s_{t+1}) − V(s_t),   A_t = δ_t + γλ·A_{t+1}       generalised advantages
    L_π = the clipped surrogate of A, on the coupled or decoupled ratio: `clipped_objective`
    L_V = cross-entropy of V(s_t) against A_t + V(s_t), clamped to [0, 1]

Advantages and targets are computed once per update, from the values before it; then `epochs` steps
are taken on the whole batch. The advantages are not corrected for the age of the data: they are
those of the policy that acted. Retrace and V-trace correct for this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from distrl.bounds import Bounds, Checked, Meaning
from distrl.learning.algorithms.actor_critic import value_outcomes
from distrl.learning.algorithms.algorithm import PlannedAlgorithm, UpdatePlan
from distrl.learning.algorithms.clipped_objective import ClippedObjective, ClipSettings
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import BatchScores, GradientStep
from distrl.learning.targets.advantages import generalised, normalise


@dataclass(frozen=True, slots=True)
class PpoSettings(Checked):
    """How advantages are estimated, and how many steps an update takes on a batch."""

    discount: Annotated[float, Bounds(0.0, 1.0, "(γ, per step)")] = 0.95
    gae_lambda: Annotated[float, Bounds(0.0, 1.0, "(λ of the generalised advantages)")] = 0.95
    normalise: Annotated[bool, Meaning("advantages to mean 0 and deviation 1 over the batch")] = (
        True
    )
    epochs: Annotated[int, Bounds(1, 10**6, "steps for each batch")] = 4
    objective: ClipSettings = ClipSettings()


@dataclass(eq=False)
class Ppo(PlannedAlgorithm):
    """Proximal policy optimisation; decoupled where `objective.decoupled` is set."""

    step: GradientStep
    settings: PpoSettings = PpoSettings()

    @property
    def discount(self) -> float:
        return self.settings.discount

    def plan(self, batch: Batch, current: BatchScores) -> UpdatePlan:
        chosen = self.settings
        known = batch.with_values(current.values)
        advantages = generalised(**known, discount=chosen.discount, lambda_=chosen.gae_lambda)
        targets = advantages + current.values[:, :-1]
        if chosen.normalise:
            advantages = normalise(advantages, batch.mask)
        loss = ClippedObjective.of(chosen.objective, batch, current, advantages, targets)
        return UpdatePlan(
            loss,
            advantages,
            ratio_cap=chosen.objective.highest,
            epochs=chosen.epochs,
            outcomes=value_outcomes(batch, current, chosen.discount),
        )
