"""What every algorithm does: take a batch, move the policy, and report what it saw.

An algorithm owns no data and no devices. The learner hands it batches and uses its report for
priorities, metrics and pacing; `policy_moves` is False while only the critic is being warmed up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from torch import Tensor

from distrl.learning.batch import Batch


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What an update saw. The tensors are detached, on the CPU, and shaped like the batch."""

    losses: dict[str, float]  # policy, value, entropy, invalid, … as they entered the total
    gradient_norms: dict[str, float]  # policy and critic, before clipping
    td_errors: Tensor  # [b, t]
    ratios: Tensor  # [b, t], of whole turns, before truncation
    entropies: Tensor  # [b, t], mean over the tokens of a turn
    values: Tensor  # [b, t]
    advantages: Tensor  # [b, t]
    gauges: dict[str, float] = field(default_factory=dict)  # clip fraction, sample size, …


class Algorithm(Protocol):
    """A way to learn from trajectories."""

    @property
    def discount(self) -> float:
        """γ of the errors in its reports; errors that are to be compared with them take it too."""
        ...

    def update(self, batch: Batch, *, policy_moves: bool = True) -> UpdateReport: ...
