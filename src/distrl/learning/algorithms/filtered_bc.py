"""Filtered behaviour cloning: imitate what worked, and nothing else.

    keep(τ) = 1{τ succeeded} · 1{R(τ) is among the best `share` of the successes of the batch}
    L_π     = −Σ keep(τ)·w(τ)·log π(a_t|s_t) / Σ keep(τ)       over all tokens of all steps
    L_V     = −E[y·log V(s_t) + (1 − y)·log(1 − V(s_t))],       y = 1{τ succeeded}

R is the return with its costs, so that of two successes the shorter one comes first; w corrects for
prioritised draws. There is no ratio: the result is a policy that does what successes of the acting
policies did, whichever those were. The critic does not touch the policy; it learns so that
priorities mean something, and so that another algorithm can take over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from distrl.bounds import Bounds, Fixed, check_bounds
from distrl.learning.algorithms.algorithm import UpdateReport
from distrl.learning.algorithms.filtered_imitation import FilteredImitation, among_the_best
from distrl.learning.algorithms.update_gauges import update_report
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import GradientStep
from distrl.learning.losses.averages import Averaging


@dataclass(frozen=True, slots=True)
class FilteredBcSettings:
    """Which successes are imitated, and how their tokens are weighed."""

    share: Annotated[
        float, Bounds(0.0, 1.0, "of a batch's successes, best returns first", open=True)
    ] = 1.0
    averaging: Annotated[Averaging, Fixed("imitation averages over tokens")] = "per_token"

    def __post_init__(self) -> None:
        check_bounds(self)


class FilteredBc:
    """Imitates successes."""

    def __init__(self, step: GradientStep, settings: FilteredBcSettings | None = None) -> None:
        self.step = step
        self.settings = settings or FilteredBcSettings()

    @property
    def discount(self) -> float:
        return 1.0  # it looks at outcomes

    def update(self, batch: Batch, *, policy_moves: bool = True) -> UpdateReport:
        current = self.step.score_batch(batch)
        kept = kept_successes(batch, self.settings.share)  # [b]
        weights = batch.mask * (kept * batch.weights).unsqueeze(1)  # [b, t]
        loss = FilteredImitation.of(batch, weights, self.settings.averaging)
        # With nothing to imitate the optimiser's momentum must not move the policy either.
        moves = policy_moves and bool(kept.any())
        losses, norms = self.step.step(batch, loss, policy_moves=moves)
        kept_share = float(kept.mean())
        return update_report(
            batch, current, weights, losses, norms, discount=self.discount, kept_share=kept_share
        )


def kept_successes(batch: Batch, share: float) -> Tensor:
    """1 for the trajectories to imitate, [b]; equal returns are kept or dropped together."""
    successes = batch.outcomes > 0.5
    if not bool(successes.any()):
        return torch.zeros_like(batch.outcomes)
    returns = torch.where(batch.mask, batch.rewards, 0.0).sum(1)
    return (successes & among_the_best(returns, successes, share)).to(batch.outcomes.dtype)
