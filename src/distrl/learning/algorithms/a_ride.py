"""A-RIDE, the algorithm of DistRL: an actor-critic that learns from old trajectories.

    ρ_t = π(a_t|s_t) / μ(a_t|s_t)                    current / acting policy, at `ratio_level`
    δ_t = r_t + γ·V(s_{t+1}) − V(s_t)                V(s_{t+1}) = 0 if terminated, not if truncated
    Δ_t = δ_t + γ·c_{t+1}·Δ_{t+1}                    Retrace(λ), c = λ·min(1, ρ)
    v_t = V(s_t) + Δ_t,   A_t = Δ_t
    L_V = E_μ[min(cap_V, ρ_t)·ℓ(V(s_t), v_t)]
    L_π = −E_μ[min(cap, ρ_t)·f(A_t)·log π(a_t|s_t)] − β·E_μ[ℍ(π(·|s_t))]
          + λ_p·E_μ[min(cap, ρ_t)·1{a_t invalid}·log π(a_t|s_t)]
          + κ·E_μ[min(cap, ρ_t)·k3(π, π_ref)]        gradient of KL(π_ref ‖ π): `estimated_kl`

f(A) = 1{A > 0} for `filtered` advantages, the default, and f(A) = A for `signed` ones.

**Relation to V-trace.** With signed advantages and both caps at 1 this is V-trace(λ); with filtered
ones only its critic is. Let ρ̄ = min(1, ρ) and Δ'_t = ρ̄_t·Δ_t. Then

    Δ'_t = ρ̄_t·δ_t + γ·λ·ρ̄_t·ρ̄_{t+1}·Δ_{t+1} = ρ̄_t·δ_t + γ·(λ·ρ̄_t)·Δ'_{t+1}

which is V-trace's recursion (Espeholt et al. 2018) with c_t = λ·ρ̄_t. The gradient of L_V with
respect to the logit of V is ρ̄_t·(V − v_t) = −Δ'_t, as in V-trace. The policy's, with signed
advantages, is Δ'_t·∇log π. At λ = 1 that is V-trace's actor, ρ̄_t·(r_t + γ·v'_{t+1} − V); below 1
it contains λ as generalised advantages do. So `vtrace` differs by its clips and, below λ = 1, by
its advantage; tests check that the two agree.

**Differences from the paper.** The paper prints Retrace on V, which is Δ_t above, with no weight in
L_V, and A_t = r_t + γ·v_{t+1} − V(s_t): `as_printed`. There Δ_t contains δ_t in full, whatever the
ratio of its own step, so v_t is the value of *this answer*: it estimates Q(s_t, a_t). Therefore

- V(s_t), a mean over the answers that π would give, is fitted to v_t with the weight of its own
  step. Without it the critic learns the values of μ (with λ = 0 exactly those, however old). With
  cap_V = 1 its fixed point is that of V-trace for every λ: the values of a policy ∝ min(μ, π),
  which are those of π once π is nearly deterministic. A larger cap_V is closer to π, with more
  variance;
- the advantage is Δ_t itself. The printed one evaluates the next step under μ.

On the benchmark `small_world` the printed form does not find the optimal policy. The invalid term
as printed has no gradient; here it has one. Rewards contain such a penalty too, so one of the two
is 0 (by default this one, so that an unreadable answer is penalised once). The entropy term is the
entropy of π, not −log π of the sampled answer.

Where other trajectories continued from the same step (forks, `matched_screens`), A_t is measured
instead of estimated: the discounted success from there minus the mean of theirs. Its weight is
min(cap, ρ_t), as elsewhere.

Batches are drawn by priority (DPER), and weights that correct for it multiply every term.
`trajectory_share` below 1 applies the paper's filter (`trajectory_filter`) to each drawn batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import torch
from torch import Tensor

from distrl.bounds import Bounds, Checked, Fixed, Meaning
from distrl.learning.algorithms.actor_critic import (
    ActorCriticObjective,
    Correction,
    CriticObjective,
    ValueLoss,
    actor_critic_metrics,
    token_ratios,
    turn_ratios,
    value_outcomes,
    with_measured_advantages,
)
from distrl.learning.algorithms.algorithm import (
    DrawRule,
    PlannedAlgorithm,
    UpdatePlan,
    check_reference,
)
from distrl.learning.algorithms.trajectory_filter import (
    WithInstructionCritic,
    better_than_promised,
)
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import BatchScores, GradientStep, ReferencePolicy, TurnLoss
from distrl.learning.losses.averages import Averaging, count
from distrl.learning.targets.advantages import keep_above
from distrl.learning.targets.ratios import truncate
from distrl.learning.targets.retrace import retrace, signed_advantages


@dataclass(frozen=True, slots=True)
class ARideSettings(Checked):
    """The hyperparameters of A-RIDE. Fields that are not settings of a run are for ablations."""

    discount: Annotated[float, Bounds(0.0, 1.0, "(γ, per step)")] = 0.95
    retrace_lambda: Annotated[
        float, Bounds(0.0, 1.0, "(λ: 0 looks one step ahead, 1 to the end)")
    ] = 0.95
    ratio_level: Annotated[Correction, Meaning("what ρ is a ratio of")] = "turn"
    ratio_cap: Annotated[float, Bounds(0.0, unit="(of ρ in the policy loss)", open=True)] = 1.0
    value_ratio_cap: Annotated[float, Bounds(0.0, unit="(of ρ in the value loss)", open=True)] = 1.0
    advantage: Annotated[
        Literal["signed", "filtered"], Meaning("filtered: steps with A > 0, with weight 1")
    ] = "filtered"
    advantage_threshold: Annotated[
        float, Bounds(-1e6, 1e6, "returns"), Fixed("a filter keeps what is better than expected")
    ] = 0.0
    trajectory_share: Annotated[
        float,
        Bounds(
            0.0, 1.0, "of a drawn batch that the policy learns from, surprises first", open=True
        ),
    ] = 1.0
    entropy_weight: Annotated[float, Bounds(0.0, 1e6, "(β, returns per nat)")] = 0.01
    invalid_weight: Annotated[
        float, Bounds(0.0, 1e6, "(λ_p, per unreadable answer; beside a penalty in rewards: 0)")
    ] = 0.0
    kl_weight: Annotated[float, Bounds(0.0, 1e6, "(κ, returns per nat from the start model)")] = 0.0
    value_target: Annotated[
        Literal["retrace", "success"], Meaning("success: the outcome, not corrected for old data")
    ] = "retrace"
    value_loss: Annotated[ValueLoss, Meaning("of the critic")] = "cross_entropy"
    value_weight: Annotated[float, Bounds(0.0, 1e6, "(of the value loss)")] = 1.0
    averaging: Annotated[
        Averaging, Fixed("a ratio of a turn weighs the whole turn; see losses.averages")
    ] = "whole_turn"
    as_printed: Annotated[
        bool, Meaning("the paper's equations without the two repairs, for ablations")
    ] = False


@dataclass(eq=False)
class ARide(PlannedAlgorithm):
    """Advantage-based Retrace on trajectories that are drawn by priority."""

    draws: ClassVar[DrawRule] = "priority"
    step: GradientStep
    settings: ARideSettings = ARideSettings()
    reference: ReferencePolicy | None = None

    def __post_init__(self) -> None:
        check_reference("a_ride.kl_weight", self.settings.kl_weight, self.reference)

    @property
    def discount(self) -> float:
        return self.settings.discount

    def plan(self, batch: Batch, current: BatchScores) -> UpdatePlan:
        ratios = turn_ratios(self.settings.ratio_level, batch, current)
        known, lambda_ = batch.with_values(current.values), self.settings.retrace_lambda
        targets = retrace(**known, ratios=ratios, discount=self.discount, lambda_=lambda_)
        advantages = self._advantages(batch, current, targets)
        positive = keep_above(advantages, batch.mask).sum() / batch.mask.sum()
        came, cap = self._outcomes(batch, current), self.settings.ratio_cap
        return UpdatePlan(
            loss=self._loss(batch, current, ratios, targets, advantages),
            advantages=advantages,
            metrics={
                **actor_critic_metrics(batch, current, targets, came, cap),
                "positive_advantages": float(positive),
            },
            outcomes=came,
        )

    def _outcomes(self, batch: Batch, current: BatchScores) -> Tensor:  # [b, t]
        """Return the observed outcome of the quantity that the critic predicts."""
        if self.settings.value_target == "success":
            return batch.step_outcomes
        return value_outcomes(batch, current, self.discount)

    def _advantages(self, batch: Batch, current: BatchScores, targets: Tensor) -> Tensor:  # [b, t]
        if self.settings.as_printed:
            known = batch.with_values(current.values)
            return signed_advantages(targets, **known, discount=self.discount)
        estimated = torch.where(batch.mask, targets - current.values[:, :-1], 0.0)
        return with_measured_advantages(batch, estimated, self.discount)

    def _loss(
        self,
        batch: Batch,
        current: BatchScores,
        ratios: Tensor,
        targets: Tensor,
        advantages: Tensor,
    ) -> TurnLoss:
        share, policy = self.settings.trajectory_share, self.step.policy
        if share == 1.0:
            return self._objective(batch, current, ratios, targets, advantages)
        kept = better_than_promised(policy, batch, share).unsqueeze(1)
        objective = self._objective(batch, current, ratios, targets, advantages * kept)
        return WithInstructionCritic(objective, policy, batch)

    def _objective(
        self,
        batch: Batch,
        current: BatchScores,
        ratios: Tensor,
        targets: Tensor,
        advantages: Tensor,
    ) -> ActorCriticObjective:
        chosen = self.settings
        if chosen.advantage == "filtered":
            advantages = keep_above(advantages, batch.mask, chosen.advantage_threshold)
        reference = None
        if chosen.kl_weight > 0.0 and self.reference is not None:
            reference = batch.gather(self.step.log_probs_of(self.reference, batch))
        return ActorCriticObjective(
            critic=self._critic(batch, ratios, targets),
            advantages=batch.gather(advantages),
            draws=batch.gather(batch.draw_weights),
            total=count(batch.token_mask, chosen.averaging).clamp(min=1),
            averaging=chosen.averaging,
            value_weight=chosen.value_weight,
            entropy_weight=chosen.entropy_weight,
            ratios=batch.gather(token_ratios(chosen.ratio_level, batch, current)),
            ratio_cap=chosen.ratio_cap,
            invalid=batch.gather(batch.invalid),
            invalid_weight=chosen.invalid_weight,
            reference_log_probs=reference,
            kl_weight=chosen.kl_weight,
        )

    def _critic(self, batch: Batch, ratios: Tensor, targets: Tensor) -> CriticObjective:
        chosen = self.settings
        weights = torch.ones_like(ratios)
        if chosen.value_target == "success":  # of the whole trajectory: step ratios cannot correct
            targets = batch.step_outcomes
        elif not chosen.as_printed:
            weights = truncate(ratios, chosen.value_ratio_cap)
        return CriticObjective.of(chosen.value_loss, batch, targets, weights)
