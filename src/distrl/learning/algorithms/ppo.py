"""PPO, and its decoupled form for data that is not fresh.

    δ_t = r_t + γ·V(s_{t+1}) − V(s_t),   A_t = δ_t + γλ·A_{t+1}       generalised advantages
    L_π = the clipped surrogate of A, on the coupled or decoupled ratio: `clipped_objective`
    L_V = cross-entropy of V(s_t) against A_t + V(s_t), held to [0, 1]

Advantages and targets are made once per update with the values that it begins with, then `epochs`
steps are taken on the whole batch. The advantages are not corrected for the age of the data: they
are those of the policy that acted, which is what Retrace and V-trace repair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from distrl.bounds import Bounds, Meaning, check_bounds
from distrl.learning.algorithms.algorithm import UpdateReport
from distrl.learning.algorithms.clipped_objective import (
    ClippedObjective,
    ClipSettings,
    repeated_steps,
)
from distrl.learning.algorithms.update_gauges import update_report
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import GradientStep
from distrl.learning.targets.advantages import generalised, normalise


@dataclass(frozen=True, slots=True)
class PpoSettings:
    """What the advantages are made of, and how long an update stays with a batch."""

    discount: Annotated[float, Bounds(0.0, 1.0, "(γ, per step)")] = 0.95
    gae_lambda: Annotated[float, Bounds(0.0, 1.0, "(λ of the generalised advantages)")] = 0.95
    normalise: Annotated[bool, Meaning("advantages to mean 0 and deviation 1 over the batch")] = (
        True
    )
    epochs: Annotated[int, Bounds(1, 10**6, "steps for each batch")] = 4
    objective: ClipSettings = ClipSettings()

    def __post_init__(self) -> None:
        check_bounds(self)


class Ppo:
    """Proximal policy optimisation; decoupled where `objective.decoupled` says so."""

    def __init__(self, step: GradientStep, settings: PpoSettings | None = None) -> None:
        self.step = step
        self.settings = settings or PpoSettings()

    @property
    def discount(self) -> float:
        return self.settings.discount

    def update(self, batch: Batch, *, policy_moves: bool = True) -> UpdateReport:
        chosen = self.settings
        current = self.step.score_batch(batch)
        advantages = generalised(
            current.values,
            batch.rewards,
            batch.mask,
            batch.bootstrap,
            chosen.discount,
            chosen.gae_lambda,
        )
        targets = advantages + current.values[:, :-1]
        if chosen.normalise:
            advantages = normalise(advantages, batch.mask)
        loss = ClippedObjective.of(chosen.objective, batch, current, advantages, targets)
        losses, norms = repeated_steps(
            self.step, batch, loss, chosen.epochs, policy_moves=policy_moves
        )
        return update_report(
            batch,
            current,
            advantages,
            losses,
            norms,
            discount=self.discount,
            cap=chosen.objective.highest,
        )
