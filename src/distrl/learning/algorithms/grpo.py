"""GRPO: the mean return of several attempts at one task is the baseline of each of them.

    A(τ) = (R(τ) − mean of R over the attempts at its task) / their deviation, for every step of τ
    L_π  = the clipped surrogate of A (`clipped_objective`) + κ·E[k3(π, π_ref)]   `estimated_kl`
    L_V  = −E[y·log V(s_t) + (1 − y)·log(1 − V(s_t))],  y = 1{success}

A group is all trajectories of one task (`trajectory.task.id`) in a batch. Single attempts, and
groups in which all returns are equal, give no gradient. So a batch should hold several attempts at
each task: `learner.attempts_together` draws them that way. The advantages use no critic; one is
trained beside the policy for priorities and reports. R is success (0 or 1) or the return with its
costs. With the latter, dividing by the deviation can scale small differences in cost up to the size
of a success.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

import torch
from torch import Tensor

from distrl.bounds import Bounds, Checked, Meaning
from distrl.learning.algorithms.algorithm import PlannedAlgorithm, UpdatePlan, check_reference
from distrl.learning.algorithms.clipped_objective import ClippedObjective, ClipSettings
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import BatchScores, GradientStep, ReferencePolicy
from distrl.learning.targets.advantages import group_relative


@dataclass(frozen=True, slots=True)
class GrpoSettings(Checked):
    """The quantity that is compared within a group, and the number of steps for each batch."""

    compared: Annotated[
        Literal["success", "return"], Meaning("what attempts at a task are compared by")
    ] = "success"
    divide_by_deviation: Annotated[
        bool, Meaning("divide advantages by their deviation in the group")
    ] = True
    epochs: Annotated[int, Bounds(1, 10**6, "steps for each batch")] = 1
    kl_weight: Annotated[float, Bounds(0.0, 1e6, "(κ, per nat from the start model)")] = 0.0
    objective: ClipSettings = ClipSettings(entropy_weight=0.0)


@dataclass(eq=False)
class Grpo(PlannedAlgorithm):
    """Learns from the differences between attempts at the same task."""

    step: GradientStep
    settings: GrpoSettings = GrpoSettings()
    reference: ReferencePolicy | None = None

    def __post_init__(self) -> None:
        check_reference("grpo.kl_weight", self.settings.kl_weight, self.reference)

    def plan(self, batch: Batch, current: BatchScores) -> UpdatePlan:
        advantages = batch.mask * self.advantages(batch).unsqueeze(1)  # [b, t]
        objective, outcomes = self.settings.objective, batch.step_outcomes
        clipped = ClippedObjective.of(objective, batch, current, advantages, outcomes)
        pulled = self.reference is not None and self.settings.kl_weight > 0.0
        if self.reference is not None and pulled:
            near = batch.gather(self.step.log_probs_of(self.reference, batch))
            weight = self.settings.kl_weight
            clipped = replace(clipped, reference_log_probs=near, kl_weight=weight)
        teaching = float((advantages != 0.0).any(1).float().mean())
        return UpdatePlan(
            loss=clipped,
            advantages=advantages,
            metrics={"teaching_share": teaching},
            ratio_cap=self.settings.objective.highest,
            epochs=self.settings.epochs,
            policy_moves=pulled or teaching > 0.0,
        )

    def advantages(self, batch: Batch) -> Tensor:
        """Return the advantage of each trajectory, [b]."""
        names = [trajectory.task.id for trajectory in batch.trajectories]
        groups = torch.tensor([names.index(name) for name in names])
        returns = torch.where(batch.mask, batch.rewards, 0.0).sum(1)
        compared = batch.outcomes if self.settings.compared == "success" else returns
        divide = self.settings.divide_by_deviation
        return group_relative(compared, groups, divide_by_deviation=divide)
