"""DigiRL: imitate steps with a high advantage in attempts that beat their task's expected success.

    V_instr(c), V(s):  −E[y·log V + (1 − y)·log(1 − V)],  y = 1{success}      two critics, BCE
    A_step(h)  = λ^{H−h}·r_H + (1 − λ^{H−h}·r_H)·(V(s_{h+1}) + r_h − V(s_h))  doubly robust
    A_instr(τ) = r_H − V_instr(c)                                             curriculum
    L_π        = −E[log π(a_h|s_h)]  over steps with A_step > 1/H of the trajectories whose A_instr
                 is among the best `curriculum_share` of the batch

r_H is 1 for success. H in 1/H is the step limit of the task, H in λ^{H−h} the last step that was
taken. This is advantage-weighted regression with a hard filter instead of exponential weights:
there are no ratios, and no answer's probability is ever pushed down.

Batches are drawn uniformly, as in DigiRL: prioritised draws are DistRL's, and
`learning.learner.draws` enables them for any algorithm as an ablation. Other differences from the
original:

- The released code of DigiRL has no factor (1 − λ^{H−h}·r_H) but adds the return, discounted by
  0.5, to the improvement, and keeps a step above 0 after a cost of 0.05 rather than above 1/H. We
  follow the paper.
- It ranks the trajectories of its whole buffer and keeps a tenth. We rank those of a batch, a
  uniform sample of the buffer, and keep a larger share, since a tenth of 16 trajectories are two.
- After each round it makes 5 passes for each critic and then 20 for the actor, on separate batches.
  We take `passes` steps of critics and policy together on each batch, and
  `pacing.samples_per_insert` sets the number of batches in a round.
- Its offline phase filters by reward alone: that is `filtered_bc`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from distrl.bounds import Bounds, Checked, Fixed
from distrl.learning.algorithms.algorithm import PlannedAlgorithm, UpdatePlan
from distrl.learning.algorithms.filtered_bc import FilteredImitation
from distrl.learning.algorithms.trajectory_filter import (
    WithInstructionCritic,
    better_than_promised,
)
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import BatchScores, GradientStep
from distrl.learning.losses.averages import Averaging
from distrl.learning.targets.advantages import doubly_robust, keep_above


@dataclass(frozen=True, slots=True)
class DigirlSettings(Checked):
    """The strength of the two filters, and the number of steps for each batch."""

    decay: Annotated[
        float, Bounds(0.0, 1.0, "(λ: how far back from a success its steps are trusted)")
    ] = 0.5
    threshold: Annotated[
        float | None, Bounds(-1e6, 1e6, "(what A_step must exceed; none: 1/H of the task)")
    ] = None  # None: 1/H
    curriculum_share: Annotated[
        float, Bounds(0.0, 1.0, "of a batch's trajectories, best A_instr first", open=True)
    ] = 0.5
    passes: Annotated[int, Bounds(1, 10**6, "steps for each batch")] = 1
    averaging: Annotated[Averaging, Fixed("imitation averages over tokens")] = "per_token"


@dataclass(eq=False)
class Digirl(PlannedAlgorithm):
    """Imitates the steps that pass a filter of trajectories and a filter of steps."""

    step: GradientStep
    settings: DigirlSettings = DigirlSettings()

    def plan(self, batch: Batch, current: BatchScores) -> UpdatePlan:
        known = batch.with_values(current.values)
        advantages = doubly_robust(**known, outcomes=batch.outcomes, decay=self.settings.decay)
        share = self.settings.curriculum_share
        chosen = better_than_promised(self.step.policy, batch, share)  # [b]
        kept = keep_above(advantages, batch.mask, self._thresholds(batch)) * chosen.unsqueeze(1)
        weights = kept * batch.weights.unsqueeze(1)
        imitation = FilteredImitation.of(batch, weights, self.settings.averaging)
        return UpdatePlan(
            loss=WithInstructionCritic(imitation, self.step.policy, batch),
            advantages=advantages,
            metrics={"kept_share": float(kept.sum() / batch.mask.sum())},
            epochs=self.settings.passes,
            policy_moves=bool(kept.any()),
        )

    def _thresholds(self, batch: Batch) -> Tensor:  # [b, 1]
        given = self.settings.threshold
        limits = [float(trajectory.task.step_limit) for trajectory in batch.trajectories]
        each = [1.0 / limit if given is None else given for limit in limits]
        return torch.tensor(each).unsqueeze(1)
