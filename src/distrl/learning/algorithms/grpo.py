"""Group-relative advantages, as in GRPO: attempts at one task are each other's baseline.

    A(τ) = (R(τ) − mean of R over the attempts at its task) / their deviation, for every step of τ
    L_π  = the clipped surrogate of A (`clipped_objective`) + κ·E[KL(π ‖ π_ref)]   k3 estimate
    L_V  = −E[y·log V(s_t) + (1 − y)·log(1 − V(s_t))],  y = 1{success}

A group is what a batch holds of one task (`trajectory.task.id`); single attempts, and groups
that all ended alike, have no gradient. So a batch should hold several attempts at each
task: `learner.attempts_together` draws them that way. No critic takes part; it learns beside the
policy so that priorities and reports mean something. R is success, 0 or 1, or the whole return with
its costs: dividing by the deviation then blows small differences in cost up to the size of a
success.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from torch import Tensor

from distrl.agent.trainable_policy import Scores
from distrl.bounds import Bounds, Meaning, check_bounds
from distrl.errors import InvalidSetting
from distrl.learning.algorithms.algorithm import PlannedAlgorithm, UpdatePlan
from distrl.learning.algorithms.clipped_objective import ClippedObjective, ClipSettings, beside
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import (
    BatchScores,
    GradientStep,
    Losses,
    ReferencePolicy,
    TurnLoss,
)
from distrl.learning.losses.divergence import estimated_kl, kl_penalty
from distrl.learning.targets.advantages import group_relative


@dataclass(frozen=True, slots=True)
class GrpoSettings:
    """What is compared inside a group, and how many steps an update takes on a batch."""

    compared: Annotated[
        Literal["success", "return"], Meaning("what attempts at a task are compared by")
    ] = "success"
    divide_by_deviation: Annotated[
        bool, Meaning("divide advantages by their deviation in the group")
    ] = True
    epochs: Annotated[int, Bounds(1, 10**6, "steps for each batch")] = 1
    kl_weight: Annotated[float, Bounds(0.0, 1e6, "(κ, per nat from the start model)")] = 0.0
    objective: ClipSettings = ClipSettings(entropy_weight=0.0)

    def __post_init__(self) -> None:
        check_bounds(self)


class Grpo(PlannedAlgorithm):
    """Learns from the differences between attempts at the same task."""

    def __init__(
        self,
        step: GradientStep,
        settings: GrpoSettings | None = None,
        reference: ReferencePolicy | None = None,
    ) -> None:
        self.step = step
        self.settings = settings or GrpoSettings()
        self.reference = reference
        if self.settings.kl_weight > 0.0 and reference is None:
            raise InvalidSetting(
                f"grpo.kl_weight={self.settings.kl_weight!r} without a reference policy "
                "to stay near; give one, or 0"
            )

    @property
    def discount(self) -> float:
        return 1.0  # it looks at outcomes

    def plan(self, batch: Batch, current: BatchScores) -> UpdatePlan:
        advantages = batch.mask * self.advantages(batch).unsqueeze(1)  # [b, t]
        outcomes = batch.outcomes.unsqueeze(1).expand_as(advantages)
        clipped = ClippedObjective.of(self.settings.objective, batch, current, advantages, outcomes)
        teaching = float((advantages != 0.0).any(1).float().mean())
        return UpdatePlan(
            loss=self._with_kl(clipped, batch),
            advantages=advantages,
            metrics={"teaching_share": teaching},
            ratio_cap=self.settings.objective.highest,
            epochs=self.settings.epochs,
            policy_moves=teaching > 0.0,
        )

    def advantages(self, batch: Batch) -> Tensor:
        """Of whole trajectories, [b]."""
        names = [trajectory.task.id for trajectory in batch.trajectories]
        groups = torch.tensor([names.index(name) for name in names])
        returns = torch.where(batch.mask, batch.rewards, 0.0).sum(1)
        compared = batch.outcomes if self.settings.compared == "success" else returns
        divide = self.settings.divide_by_deviation
        return group_relative(compared, groups, divide_by_deviation=divide)

    def _with_kl(self, clipped: ClippedObjective, batch: Batch) -> TurnLoss:
        weight = self.settings.kl_weight
        if self.reference is None or weight == 0.0:
            return clipped
        reference = batch.gather(self.step.log_probs_of(self.reference, batch))
        return _WithReference(clipped, reference, weight)


@dataclass(frozen=True, slots=True, eq=False)
class _WithReference:
    """The clipped objective and a KL penalty to the reference policy."""

    clipped: ClippedObjective
    reference_log_probs: Tensor  # [n, k]
    weight: float

    def __call__(self, scores: Scores, turns: Tensor) -> Losses:
        reference = beside(scores, self.reference_log_probs, turns)
        divergences = estimated_kl(scores.log_probs, reference, scores.token_mask)
        penalty = kl_penalty(
            divergences * self.clipped.corrections(scores, turns),
            scores.token_mask,
            averaging=self.clipped.settings.averaging,
            total=self.clipped.total,
        )
        return {**self.clipped(scores, turns), "kl": self.weight * penalty}
