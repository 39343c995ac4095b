"""DigiRL: imitate the steps that helped, of the attempts that did better than their task promises.

    V_instr(c), V(s):  −E[y·log V + (1 − y)·log(1 − V)],  y = 1{success}      two critics, BCE
    A_step(h)  = λ^{H−h}·r_H + (1 − λ^{H−h}·r_H)·(V(s_{h+1}) + r_h − V(s_h))  doubly robust
    A_instr(τ) = r_H − V_instr(c)                                             curriculum
    L_π        = −E[log π(a_h|s_h)]  over steps with A_step > 1/H of the trajectories whose A_instr
                 is among the best `curriculum_share` of the batch

r_H is 1 for success; H in 1/H is the step limit of the task, H in λ^{H−h} the last step that was
taken. Advantage-weighted regression with a hard filter in place of exponential weights: no ratios,
and no step is ever pushed away from.

Where the released code of DigiRL differs, and we follow the paper: it has no factor
(1 − λ^{H−h}·r_H) but adds the return, discounted by 0.5, to the improvement, and keeps a step above
0 after a cost of 0.05 rather than above 1/H. It filters trajectories over its whole buffer, keeps a
tenth of them and makes tens of passes (20 for the actor, 5 for each critic) at a time; here the
critics and the policy move together, once per batch, and the share is one of the batch, hence
larger. Its offline phase filters by reward alone: that is `filtered_bc`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor
from torch.nn import functional

from distrl.agent.trainable_policy import Scores, TrainablePolicy
from distrl.bounds import Bounds, Checked, Fixed
from distrl.learning.algorithms.algorithm import PlannedAlgorithm, UpdatePlan
from distrl.learning.algorithms.filtered_bc import FilteredImitation, among_the_best
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import BatchScores, GradientStep, Losses
from distrl.learning.losses.averages import Averaging
from distrl.learning.targets.advantages import doubly_robust, keep_above


@dataclass(frozen=True, slots=True)
class DigirlSettings(Checked):
    """How hard the two filters are."""

    decay: Annotated[
        float, Bounds(0.0, 1.0, "(λ: how far back from a success its steps are trusted)")
    ] = 0.5
    threshold: Annotated[
        float | None, Bounds(-1e6, 1e6, "(what A_step must exceed; none: 1/H of the task)")
    ] = None  # None: 1/H
    curriculum_share: Annotated[
        float, Bounds(0.0, 1.0, "of a batch's trajectories, best A_instr first", open=True)
    ] = 0.5
    averaging: Annotated[Averaging, Fixed("imitation averages over tokens")] = "per_token"


@dataclass(eq=False)
class Digirl(PlannedAlgorithm):
    """Imitates steps behind two filters."""

    step: GradientStep
    settings: DigirlSettings = DigirlSettings()

    def plan(self, batch: Batch, current: BatchScores) -> UpdatePlan:
        known = batch.with_values(current.values)
        advantages = doubly_robust(**known, outcomes=batch.outcomes, decay=self.settings.decay)
        chosen = self.curriculum(batch)  # [b]
        kept = keep_above(advantages, batch.mask, self._thresholds(batch)) * chosen.unsqueeze(1)
        weights = kept * batch.weights.unsqueeze(1)
        imitation = FilteredImitation.of(batch, weights, self.settings.averaging)
        return UpdatePlan(
            loss=_WithInstructionCritic(imitation, self.step.policy, batch),
            advantages=advantages,
            metrics={"kept_share": float(kept.sum() / batch.mask.sum())},
            policy_moves=bool(kept.any()),
        )

    def curriculum(self, batch: Batch) -> Tensor:
        """1 for the trajectories with the largest A_instr, [b]."""
        with torch.no_grad():
            expected = self.step.policy.instruction_logits(_instructions(batch)).sigmoid().cpu()
        surprises = batch.outcomes - expected  # A_instr
        everyone = torch.ones_like(surprises, dtype=torch.bool)
        best = among_the_best(surprises, everyone, self.settings.curriculum_share)
        return best.to(batch.outcomes.dtype)

    def _thresholds(self, batch: Batch) -> Tensor:  # [b, 1]
        given = self.settings.threshold
        limits = [float(trajectory.task.step_limit) for trajectory in batch.trajectories]
        each = [1.0 / limit if given is None else given for limit in limits]
        return torch.tensor(each).unsqueeze(1)


@dataclass(frozen=True, slots=True, eq=False)
class _WithInstructionCritic:
    """Imitation, and the instruction's critic: each trajectory counts once, at its first turn."""

    imitation: FilteredImitation
    policy: TrainablePolicy
    batch: Batch

    def __call__(self, scores: Scores, turns: Tensor) -> Losses:
        losses = self.imitation(scores, turns)
        chosen = [self.batch.turns[index] for index in turns.tolist()]
        rows = [turn.row for turn in chosen if turn.column == 0]
        if rows:
            instructions = _instructions(self.batch)
            logits = self.policy.instruction_logits([instructions[row] for row in rows])
            wanted = self.batch.outcomes[rows].to(logits)
            summed = functional.binary_cross_entropy_with_logits(
                logits, wanted, self.batch.weights[rows].to(logits), reduction="sum"
            )
            losses["instruction_value"] = summed / len(instructions)
        return losses


def _instructions(batch: Batch) -> list[str]:
    return [trajectory.task.instruction for trajectory in batch.trajectories]
