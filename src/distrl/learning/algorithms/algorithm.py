"""The update loop of all algorithms: score a batch, plan, take optimiser steps, report.

An algorithm owns no data and no devices. The learner hands it batches and uses its report for
priorities and metrics; `policy_moves` is False while only the critic is being warmed up.
Algorithms differ in their plan: targets, advantages and a loss for each turn.
"""

from __future__ import annotations

import statistics
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

import torch
from torch import Tensor

from distrl.errors import InvalidSetting
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import BatchScores, GradientStep, ReferencePolicy, TurnLoss
from distrl.learning.targets.ratios import clip_fraction, per_turn
from distrl.learning.targets.retrace import td_errors

DrawRule = Literal["priority", "uniform"]


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """The figures of one update. The tensors are detached, on the CPU, shaped like the batch."""

    losses: dict[str, float]  # policy, value, entropy, invalid, … as they entered the total
    gradient_norms: dict[str, float]  # policy and critic, before clipping
    td_errors: Tensor  # [b, t]
    ratios: Tensor  # [b, t], of whole turns, before truncation
    entropies: Tensor  # [b, t], mean over the tokens of a turn
    values: Tensor  # [b, t]
    outcomes: Tensor  # [b, t], the observed outcomes that those values predict
    advantages: Tensor  # [b, t]
    metrics: dict[str, float] = field(default_factory=dict)  # clip fraction, sample size, …


class Algorithm(Protocol):
    """An algorithm as the learner uses it."""

    @property
    def draws(self) -> DrawRule:
        """How batches are drawn from the replay unless a setting overrides it."""
        ...

    @property
    def discount(self) -> float:
        """γ of the TD errors in its reports; the learner uses it to rescore trajectories too."""
        ...

    def update(self, batch: Batch, *, policy_moves: bool = True) -> UpdateReport: ...


@dataclass(frozen=True, slots=True, eq=False)
class UpdatePlan:
    """The loss that an algorithm derives from a scored batch, and what to report about it."""

    loss: TurnLoss
    advantages: Tensor  # [b, t], 0 at padding; for the report
    metrics: dict[str, float] = field(default_factory=dict)  # specific to the algorithm
    ratio_cap: float = 1.0  # above which a ratio counts as clipped, in the report
    epochs: int = 1  # optimiser steps on this batch
    outcomes: Tensor | None = None  # [b, t], what the values predict; None: the final success
    policy_moves: bool = True  # False: the batch has nothing for the policy to learn from


class PlannedAlgorithm(ABC):
    """Implements `Algorithm` for subclasses that define `plan`."""

    draws: ClassVar[DrawRule] = "uniform"  # DPER is A-RIDE's
    step: GradientStep

    @property
    def discount(self) -> float:
        """1 for algorithms whose critic predicts outcomes; the others override it."""
        return 1.0

    @abstractmethod
    def plan(self, batch: Batch, current: BatchScores) -> UpdatePlan: ...

    def update(self, batch: Batch, *, policy_moves: bool = True) -> UpdateReport:
        current, scored = self.step.score_for_step(batch)
        plan = self.plan(batch, current)
        # A gradient of 0 is not enough: the optimiser's momentum would still move the policy.
        moves = policy_moves and plan.policy_moves
        seen = []
        for _ in range(plan.epochs):
            seen.append(self.step.step(batch, plan.loss, policy_moves=moves, scored=scored))
            scored = None  # outdated: the weights have moved
        return update_report(
            batch,
            current,
            plan.advantages,
            _mean([losses for losses, _ in seen]),
            _mean([norms for _, norms in seen]),
            discount=self.discount,
            cap=plan.ratio_cap,
            outcomes=plan.outcomes,
            **plan.metrics,
        )


def check_reference(setting: str, weight: float, reference: ReferencePolicy | None) -> None:
    """Raise `InvalidSetting` for a KL weight without a reference policy."""
    if weight > 0.0 and reference is None:
        raise InvalidSetting(
            f"{setting}={weight!r} without a reference policy to stay near; give one, or 0"
        )


def update_report(
    batch: Batch,
    current: BatchScores,
    advantages: Tensor,  # [b, t], 0 at padding
    losses: dict[str, float],
    norms: dict[str, float],
    *,
    discount: float,
    cap: float = 1.0,
    outcomes: Tensor | None = None,  # [b, t]; None: the final success
    **metrics: float,
) -> UpdateReport:
    """Return the report of an update, or of a batch that was only scored.

    Ratios, errors, entropies and values are those before the update, so that priorities can be
    compared between algorithms.
    """
    ratios = per_turn(current.log_probs, batch.behaviour_log_probs, batch.token_mask)
    tokens = batch.token_mask.sum(-1).clamp(min=1)
    came = batch.step_outcomes if outcomes is None else outcomes
    return UpdateReport(
        losses=losses,
        gradient_norms=norms,
        td_errors=td_errors(**batch.with_values(current.values), discount=discount),
        ratios=ratios,
        entropies=torch.where(batch.token_mask, current.entropies, 0.0).sum(-1) / tokens,
        values=torch.where(batch.mask, current.values[:, :-1], 0.0),
        outcomes=torch.where(batch.mask, came, 0.0),
        advantages=advantages,
        metrics={"clip_fraction": float(clip_fraction(ratios, batch.mask, high=cap)), **metrics},
    )


def _mean(numbers: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.fmean(each[name] for each in numbers) for name in numbers[0]}
