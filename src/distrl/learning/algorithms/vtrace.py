"""IMPALA: an off-policy actor-critic with V-trace targets (Espeholt et al. 2018).

    ρ̄_t = min(rho_clip, ρ_t),   c_t = λ·min(c_clip, ρ_t)              ρ_t = π(a_t|s_t) / μ(a_t|s_t)
    Δ_t = ρ̄_t·δ_t + γ·c_t·Δ_{t+1},   δ_t = r_t + γ·V(s_{t+1}) − V(s_t)
    v_t = V(s_t) + Δ_t
    L_V = E_μ[ℓ(V(s_t), v_t)]
    L_π = −E_μ[ρ̄_t·(r_t + γ·v_{t+1} − V(s_t))·log π(a_t|s_t)] − β·E_μ[ℍ(π(·|s_t))]

The critic's fixed point is the value of the policy ∝ min(rho_clip·μ, π): rho_clip decides which
policy's values are learned, c_clip and λ only how fast. With clips of 1 the targets stay within
[0, 1] if all rewards but the last are 0. With larger clips they can leave it and the cross-entropy
clamps them, so use `squared` then. Weights that correct for prioritised draws multiply every term.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from torch import Tensor

from distrl.bounds import Bounds, Fixed, Meaning, check_bounds
from distrl.errors import InvalidSetting
from distrl.learning.algorithms.actor_critic import (
    ActorCriticObjective,
    CriticObjective,
    ValueLoss,
    actor_critic_metrics,
    token_ratios,
    turn_ratios,
    value_outcomes,
    with_measured_advantages,
)
from distrl.learning.algorithms.algorithm import PlannedAlgorithm, UpdatePlan
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import BatchScores, GradientStep
from distrl.learning.losses.averages import Averaging, count
from distrl.learning.targets.ratios import truncate
from distrl.learning.targets.retrace import vtrace


@dataclass(frozen=True, slots=True)
class VTraceSettings:
    """The hyperparameters of V-trace and its actor-critic."""

    discount: Annotated[float, Bounds(0.0, 1.0, "(γ, per step)")] = 0.95
    vtrace_lambda: Annotated[float, Bounds(0.0, 1.0, "(λ of the traces)")] = 1.0
    ratio_level: Annotated[
        Literal["turn", "length_normalised", "none"],
        Meaning("what ρ is a ratio of"),
    ] = "turn"
    rho_clip: Annotated[float, Bounds(0.0, unit="(of ρ at a step itself)", open=True)] = 1.0
    c_clip: Annotated[
        float, Bounds(0.0, unit="(of ρ in the traces; no more than rho_clip)", open=True)
    ] = 1.0
    entropy_weight: Annotated[float, Bounds(0.0, 1e6, "(β, returns per nat)")] = 0.01
    value_loss: Annotated[ValueLoss, Meaning("of the critic")] = "cross_entropy"
    value_weight: Annotated[float, Bounds(0.0, 1e6, "(of the value loss)")] = 1.0
    averaging: Annotated[
        Averaging, Fixed("a ratio of a turn weighs the whole turn; see losses.averages")
    ] = "whole_turn"

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.c_clip > self.rho_clip:
            raise InvalidSetting(
                f"vtrace.c_clip={self.c_clip!r}; give a number in (0, rho_clip={self.rho_clip!r}]"
            )


@dataclass(eq=False)
class VTraceActorCritic(PlannedAlgorithm):
    """V-trace actor-critic."""

    step: GradientStep
    settings: VTraceSettings = VTraceSettings()

    @property
    def discount(self) -> float:
        return self.settings.discount

    def plan(self, batch: Batch, current: BatchScores) -> UpdatePlan:
        chosen = self.settings
        traced = vtrace(
            **batch.with_values(current.values),
            ratios=turn_ratios(chosen.ratio_level, batch, current),
            discount=chosen.discount,
            rho_clip=chosen.rho_clip,
            c_clip=chosen.c_clip,
            lambda_=chosen.vtrace_lambda,
        )
        advantages = self._with_measured_advantages(batch, current, traced.advantages)
        objective = ActorCriticObjective(
            critic=CriticObjective.of(chosen.value_loss, batch, traced.targets),
            advantages=batch.gather(advantages),
            draws=batch.gather(batch.draw_weights),
            total=count(batch.token_mask, chosen.averaging).clamp(min=1),
            averaging=chosen.averaging,
            value_weight=chosen.value_weight,
            entropy_weight=chosen.entropy_weight,
            ratios=batch.gather(token_ratios("none", batch, current)),  # the advantages have them
        )
        came = value_outcomes(batch, current, chosen.discount)
        metrics = actor_critic_metrics(batch, current, traced.targets, came, chosen.rho_clip)
        return UpdatePlan(objective, advantages, metrics, outcomes=came)

    def _with_measured_advantages(
        self, batch: Batch, current: BatchScores, advantages: Tensor
    ) -> Tensor:
        """Replace advantages by measured ones, times their ratio, where others continued too."""
        ratios = turn_ratios(self.settings.ratio_level, batch, current)
        weights = truncate(ratios, self.settings.rho_clip)  # [b, t]
        measured = with_measured_advantages(
            batch, torch.full_like(advantages, torch.nan), self.discount
        )
        return torch.where(measured.isnan(), advantages, weights * measured)
