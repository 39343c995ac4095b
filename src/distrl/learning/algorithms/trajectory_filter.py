"""Keeps the trajectories whose outcome most exceeds the success predicted from the instruction.

    V_traj(c):   −E[y·log V_traj + (1 − y)·log(1 − V_traj)],  y = 1{success}
    A_traj(τ) = r_H − V_traj(c)
    keep(τ)   = 1{A_traj(τ) is among the best `share` of the batch}

This is DigiRL's curriculum and DistRL's trajectory filter (its equation for V_traj): an unexpected
success ranks first, an unexpected failure last. The DistRL paper prints V_traj(s_H, a_H), a value
of the last step, which already knows the outcome that it is compared with. Its released code reads
the first prompt, as DigiRL and this module do. Both rank all their trajectories; we rank a batch.
For DigiRL that is a uniform sample of the replay. A-RIDE draws by priority, so there `share` refers
to a sample in which trajectories with large TD errors are more frequent than in the replay.
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
    """Return 1 for trajectories with the largest A_traj, else 0, [b]; ties are kept together."""
    with torch.no_grad():
        expected = policy.instruction_logits(_instructions(batch)).sigmoid().cpu()
    surprises = batch.outcomes - expected  # A_traj
    everyone = torch.ones_like(surprises, dtype=torch.bool)
    return among_the_best(surprises, everyone, share).to(batch.outcomes.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class WithInstructionCritic:
    """Adds the loss of V_traj to `losses`; each trajectory counts once, at its first turn."""

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
