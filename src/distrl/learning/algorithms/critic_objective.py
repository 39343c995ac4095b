"""What the critic of an actor-critic minimises, turn by turn, with a weight for each.

    L_V = Σ_t w_t·ℓ(V(s_t), v_t) / turns of the batch, each head for itself, their losses added

`cross_entropy` takes the target as a soft success in [0, 1] (Retrace's is always one where rewards
are 0 but for the last; costs can push it out, and it is held to the range); its gradient by the
logit is V − v, as strong for sure predictions as for unsure ones. `squared` and `huber` are
regressions of V itself, which fade with V·(1 − V). The minimum of all is where V is the weighted
mean of v, for targets no further from it than 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

ValueLoss = Literal["cross_entropy", "squared", "huber"]


@dataclass(frozen=True, slots=True, eq=False)
class CriticObjective:
    """The value loss for n turns in reading order."""

    kind: ValueLoss
    targets: Tensor  # [n]
    weights: Tensor  # [n]

    def __call__(self, value_logits: Tensor, turns: Tensor) -> Tensor:  # [m, heads], [m]
        wanted = self.targets[turns].detach().to(value_logits).unsqueeze(-1).expand_as(value_logits)
        weights = self.weights[turns].detach().to(value_logits).unsqueeze(-1)
        return (weights * self._losses(value_logits, wanted)).sum() / len(self.targets)

    def _losses(self, logits: Tensor, wanted: Tensor) -> Tensor:
        if self.kind == "cross_entropy":
            return functional.binary_cross_entropy_with_logits(
                logits, wanted.clamp(0.0, 1.0), reduction="none"
            )
        if self.kind == "huber":
            return functional.huber_loss(logits.sigmoid(), wanted, reduction="none")
        return 0.5 * torch.square(logits.sigmoid() - wanted)
