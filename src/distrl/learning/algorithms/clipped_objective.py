"""The clipped surrogate of PPO, for given advantages: what PPO and GRPO minimise.

    L = −E[min(r·A, clip(r, 1 − ε, 1 + ε')·A)] − β·E[ℍ(π)]           r = π/μ          coupled
    L = −E[w·min(r·A, clip(r, …)·A)] − β·E[ℍ(π)]                     r = π/π_prox,    decoupled
                                                                     w = min(cap, π_prox/μ)

μ is the policy that acted and π_prox the one that the update began with. On-policy they are one,
and so are the two losses. On old data the coupled loss measures its step from μ: where the policy
has already moved further than ε it gives no gradient. The decoupled one measures from where the
policy is now, and corrects for the age by w. The critic's cross-entropy comes with either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from torch import Tensor

from distrl.agent.trainable_policy import Scores
from distrl.bounds import Bounds, Meaning, check_bounds
from distrl.learning.algorithms.actor_critic import CriticObjective
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import BatchScores, Losses
from distrl.learning.losses.averages import Averaging, count, token_mean
from distrl.learning.losses.policy_losses import decoupled_ppo, ppo
from distrl.learning.targets.ratios import RatioLevel, per_token, truncate


@dataclass(frozen=True, slots=True)
class ClipSettings:
    """How far one update may go, and from where it is measured."""

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

    def __post_init__(self) -> None:
        check_bounds(self)

    @property
    def highest(self) -> float:
        """The ratio beyond which a good step is pushed no further."""
        return 1.0 + (self.clip if self.clip_high is None else self.clip_high)


@dataclass(frozen=True, slots=True, eq=False)
class ClippedObjective:
    """The losses for n turns in reading order."""

    settings: ClipSettings
    advantages: Tensor  # [n]
    critic: CriticObjective
    behaviour_log_probs: Tensor  # [n, k]: of μ
    proximal_log_probs: Tensor  # [n, k]: of the policy that the update began with
    total: Tensor  # tokens or turns of the whole batch

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
            advantages=batch.gather(advantages * batch.draw_weights),
            critic=CriticObjective.of("cross_entropy", batch, value_targets),
            behaviour_log_probs=batch.gather(batch.behaviour_log_probs),
            proximal_log_probs=batch.gather(current.log_probs),
            total=count(batch.token_mask, settings.averaging).clamp(min=1),
        )

    def __call__(self, scores: Scores, turns: Tensor) -> Losses:
        averaging, total = self.settings.averaging, self.total
        entropy = token_mean(scores.entropies, scores.token_mask, averaging, total)
        return {
            "policy": self._surrogate(scores, turns),
            "entropy": -self.settings.entropy_weight * entropy,
            "value": self.critic(scores.value_logits, turns),
        }

    def corrections(self, scores: Scores, turns: Tensor) -> Tensor:
        """min(cap, π/μ) of every token now, [m, tokens]: for means under π over tokens of μ."""
        behaviour = beside(scores, self.behaviour_log_probs, turns)
        ratios = per_token(scores.log_probs.detach(), behaviour, scores.token_mask)
        return truncate(ratios, self.settings.behaviour_cap)

    def _surrogate(self, scores: Scores, turns: Tensor) -> Tensor:
        chosen = self.settings
        behaviour = beside(scores, self.behaviour_log_probs, turns)
        advantages = self.advantages[turns].to(scores.log_probs)
        if not chosen.decoupled:
            return ppo(
                scores.log_probs,
                behaviour,
                advantages,
                scores.token_mask,
                clip=chosen.clip,
                clip_high=chosen.clip_high,
                level=chosen.level,
                averaging=chosen.averaging,
                total=self.total,
            )
        return decoupled_ppo(
            scores.log_probs,
            beside(scores, self.proximal_log_probs, turns),
            behaviour,
            advantages,
            scores.token_mask,
            clip=chosen.clip,
            clip_high=chosen.clip_high,
            behaviour_cap=chosen.behaviour_cap,
            level=chosen.level,
            averaging=chosen.averaging,
            total=self.total,
        )


def beside(scores: Scores, log_probs: Tensor, turns: Tensor) -> Tensor:
    """The rows of log-probs [n, k] for these turns, cut and moved to fit their scores."""
    return log_probs[turns, : scores.log_probs.shape[1]].to(scores.log_probs)
