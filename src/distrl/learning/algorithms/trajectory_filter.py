"""Which trajectories the policy learns from: those that did better than their task promises.

    V_traj(c):   −E[y·log V_traj + (1 − y)·log(1 − V_traj)],  y = 1{success}
    A_traj(τ) = r_H − V_traj(c)
    keep(τ)   = 1{A_traj(τ) is among the best `share` of the batch}

It is DigiRL's curriculum, and the filter of DistRL (its equation for V_traj): an unexpected success
comes first, an unexpected failure last. DistRL prints V_traj(s_H, a_H), of the last step, which
knows the outcome that it is to be compared with; its released code reads the first prompt, as
DigiRL does and as is done here. Both rank all trajectories that they have; here a batch is ranked.
That is a uniform sample of them under DigiRL. A-RIDE draws by priority: there `share` is of a
sample that has trajectories with large TD errors more often than the replay.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from distrl.agent.trainable_policy import Scores, TrainablePolicy
from distrl.learning.algorithms.filtered_bc import among_the_best
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import Losses, TurnLoss


def better_than_promised(policy: TrainablePolicy, batch: Batch, share: float) -> Tensor:
    """1 for the trajectories with the largest A_traj, [b]; equal ones are kept together."""
    with torch.no_grad():
        expected = policy.instruction_logits(_instructions(batch)).sigmoid().cpu()
    surprises = batch.outcomes - expected  # A_traj
    everyone = torch.ones_like(surprises, dtype=torch.bool)
    return among_the_best(surprises, everyone, share).to(batch.outcomes.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class WithInstructionCritic:
    """Some losses, and V_traj's: each trajectory counts once, at its first turn."""

    losses: TurnLoss
    policy: TrainablePolicy
    batch: Batch

    def __call__(self, scores: Scores, turns: Tensor) -> Losses:
        losses = self.losses(scores, turns)
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
