"""The clipped surrogate loss of PPO for given advantages; PPO and GRPO minimise it.

    L = −E[min(r·A, clip(r, 1 − ε, 1 + ε')·A)] − β·E[ℍ(π)]           r = π/μ          coupled
    L = −E[w·min(r·A, clip(r, …)·A)] − β·E[ℍ(π)]                     r = π/π_prox,    decoupled
                                                                     w = min(cap, π_prox/μ)

μ is the policy that acted and π_prox the one at the start of the update. On-policy they are equal,
and so are the two losses. On old data the coupled loss clips around μ: where the policy has already
moved further than ε, it gives no gradient. The decoupled loss clips around the current policy and
corrects for the age of the data by w. Both come with the critic's cross-entropy. Weights that
correct for prioritised draws multiply every term.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from torch import Tensor

from distrl.agent.trainable_policy import Scores
from distrl.bounds import Bounds, Checked, Meaning
from distrl.learning.algorithms.actor_critic import CriticObjective, beside
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import BatchScores, Losses
from distrl.learning.losses.averages import Averaging, count, token_mean
from distrl.learning.losses.policy_losses import estimated_kl, ppo
from distrl.learning.targets.ratios import RatioLevel, per_token, truncate


@dataclass(frozen=True, slots=True)
class ClipSettings(Checked):
    """The trust region of one update: its size, and the policy around which it lies."""

    clip: Annotated[float, Bounds(0.0, 1.0, "(ε)", open=True)] = 0.2
    clip_high: Annotated[
        float | None, Bounds(0.0, unit="(ε', for ratios above 1; none: the same)", open=True)
    ] = None
    decoupled: Annotated[
        bool, Meaning("measure the step from where the update began, for old data")
    ] = False
    behaviour_cap: Annotated[
        float, Bounds(0.0, unit="(of π_prox/μ; decoupled only)", open=True)
    ] = 5.0
    level: Annotated[RatioLevel, Meaning("what a ratio is taken of")] = "token"
    averaging: Annotated[Averaging, Meaning("what counts as one in the mean")] = "per_token"
    entropy_weight: Annotated[float, Bounds(0.0, 1e6, "(β, per nat)")] = 0.01

    @property
    def highest(self) -> float:
        """The ratio above which a positive advantage gives no gradient."""
        return 1.0 + (self.clip if self.clip_high is None else self.clip_high)


@dataclass(frozen=True, slots=True, eq=False)
class ClippedObjective:
    """The losses for n turns in reading order."""

    settings: ClipSettings
    advantages: Tensor  # [n]
    draws: Tensor  # [n]: weights of prioritised draws
    critic: CriticObjective
    behaviour_log_probs: Tensor  # [n, k]: of μ
    proximal_log_probs: Tensor  # [n, k]: of π_prox, the policy at the start of the update
    total: Tensor  # tokens or turns of the whole batch
    reference_log_probs: Tensor | None = None  # [n, k]: of a policy to stay near, in GRPO
    kl_weight: float = 0.0

    @classmethod
    def of(
        cls,
        settings: ClipSettings,
        batch: Batch,
        current: BatchScores,
        advantages: Tensor,  # [b, t]
        value_targets: Tensor,  # [b, t]
    ) -> ClippedObjective:
        return cls(
            settings=settings,
            advantages=batch.gather(advantages),
            draws=batch.gather(batch.draw_weights),
            critic=CriticObjective.of("cross_entropy", batch, value_targets),
            behaviour_log_probs=batch.gather(batch.behaviour_log_probs),
            proximal_log_probs=batch.gather(current.log_probs),
            total=count(batch.token_mask, settings.averaging).clamp(min=1),
        )

    def __call__(self, scores: Scores, turns: Tensor) -> Losses:
        chosen, log_probs, token_mask = self.settings, scores.log_probs, scores.token_mask
        averaging, total = chosen.averaging, self.total
        behaviour = beside(scores, self.behaviour_log_probs, turns)
        draws = self.draws[turns].to(log_probs)  # [m]
        policy = ppo(
            log_probs,
            behaviour,
            self.advantages[turns].to(log_probs) * draws,
            token_mask,
            proximal_log_probs=(
                beside(scores, self.proximal_log_probs, turns) if chosen.decoupled else None
            ),
            behaviour_cap=chosen.behaviour_cap,
            clip=chosen.clip,
            clip_high=chosen.clip_high,
            level=chosen.level,
            averaging=averaging,
            total=total,
        )
        weights = draws.unsqueeze(-1)
        entropy = token_mean(scores.entropies * weights, token_mask, averaging, total)
        losses = {
            "policy": policy,
            "entropy": -chosen.entropy_weight * entropy,
            "value": self.critic(scores.value_logits, turns),
        }
        if self.reference_log_probs is not None:
            reference = beside(scores, self.reference_log_probs, turns)
            divergences = estimated_kl(log_probs, reference, token_mask)
            # Weight by min(cap, π/μ) of each token: the KL is a mean under π, the tokens are of μ.
            ratios = per_token(log_probs.detach(), behaviour, token_mask)
            corrected = weights * divergences * truncate(ratios, chosen.behaviour_cap)
            penalty = token_mean(corrected, token_mask, averaging, total)
            losses["kl"] = self.kl_weight * penalty
        return losses
