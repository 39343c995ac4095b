"""Losses of the policy: policy gradient, PPO, and KL divergence from a reference.

Log-probs are per token, [..., tokens] (usually [batch, time, tokens]) with their own mask;
advantages, filters and flags are per turn, [...], and apply to every token of the turn. Gradients
flow through `log_probs` alone: advantages, ratios and old log-probs are weights and are detached
here, whether or not the caller did so. `averaging` and `total` are those of `averages`. Padding may
hold anything.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from distrl.errors import InvalidSetting
from distrl.learning.losses.averages import Averaging, Total, token_mean
from distrl.learning.targets.ratios import LOG_LIMIT, RatioLevel, at_level, truncate


def policy_gradient(
    log_probs: Tensor,  # [..., tokens]
    advantages: Tensor,  # [...] per turn, or [..., tokens]
    token_mask: Tensor,  # [..., tokens]
    *,
    ratios: Tensor | None = None,  # [...] per turn, or [..., tokens]; None: 1, or contained in A
    cap: float = 1.0,
    averaging: Averaging = "per_token",
    total: Total = None,
) -> Tensor:
    """Return −E_μ[min(cap, ρ)·A·log π] (equation 6 of DistRL without its entropy and penalty).

    With ratios per turn and `whole_turn` it is exactly the equation; with ratios per token every
    token is corrected separately. The ratio is a weight: no gradient goes through it.

    With weights of 0 and 1 in place of A it is the negative log-likelihood of filtered imitation.
    With A = −1 for unreadable answers, else 0, its gradient is that of their expected share, so
    that a step lowers their probability. On replayed data pass ratios then: they let the gradient
    vanish as the answer becomes rare; without them log π would decrease without bound.
    """
    weights = _for_tokens(advantages, token_mask)
    if ratios is not None:
        weights = weights * truncate(_for_tokens(ratios, token_mask), cap)
    return token_mean(-weights * _real(log_probs, token_mask), token_mask, averaging, total)


def ppo(
    log_probs: Tensor,  # [..., tokens]: π, the policy in training
    behaviour_log_probs: Tensor,  # [..., tokens]: μ, the policy that acted
    advantages: Tensor,  # [...] per turn, or [..., tokens]
    token_mask: Tensor,  # [..., tokens]
    *,
    proximal_log_probs: Tensor | None = None,  # [..., tokens]: π_prox, a recent policy
    behaviour_cap: float = math.inf,
    clip: float = 0.2,
    clip_high: float | None = None,
    level: RatioLevel = "token",
    averaging: Averaging = "per_token",
    total: Total = None,
) -> Tensor:
    """Return −E_μ[w·min(r·A, clip(r, 1 − clip, 1 + clip_high)·A)], with ratios at `level`.

    Coupled, without π_prox: r = π/μ and w = 1. Decoupled: r = π/π_prox, w = min(behaviour_cap,
    π_prox/μ). The weight w corrects for old data; the trust region of r is around a recent policy,
    so that old data alone does not clip the gradient to 0. With π_prox = μ both are equal.
    `clip_high` (default: `clip`) lets rare tokens grow faster than others shrink.
    """
    behaviour = behaviour_log_probs.detach()
    near = behaviour if proximal_log_probs is None else proximal_log_probs.detach()
    ratios = at_level(level, log_probs, near, token_mask)
    surrogate = _clipped(ratios, _for_tokens(advantages, token_mask), clip, clip_high)
    if proximal_log_probs is not None:
        surrogate = (
            truncate(at_level(level, near, behaviour, token_mask), behaviour_cap) * surrogate
        )
    return token_mean(-surrogate, token_mask, averaging, total)


def estimated_kl(
    log_probs: Tensor,  # [..., tokens]
    reference_log_probs: Tensor,  # [..., tokens]
    token_mask: Tensor,  # [..., tokens]
) -> Tensor:
    """Estimate KL(π ‖ π_ref) by k3 = e^{−k} − 1 + k with k = log π − log π_ref, [..., tokens].

    It is never negative, and 0 at padding. The tokens must be samples of π; weight replayed ones by
    their ratio. As a loss, k alone would have no effect: its gradient has mean 0 under π, while
    that of k3 has the mean ∇KL(π_ref ‖ π). The reference gets no gradient.
    """
    new = _real(log_probs, token_mask)
    k = (new - _real(reference_log_probs.detach(), token_mask)).clamp(-LOG_LIMIT, LOG_LIMIT)
    return torch.expm1(-k) + k


def _clipped(ratios: Tensor, advantages: Tensor, clip: float, clip_high: float | None) -> Tensor:
    high = clip if clip_high is None else clip_high
    if not (0.0 < clip <= 1.0 and high > 0.0):
        raise InvalidSetting(f"clip={clip!r}, clip_high={high!r}; give clip in (0, 1], high > 0")
    clipped = ratios.clamp(1.0 - clip, 1.0 + high)
    return torch.minimum(ratios * advantages, clipped * advantages)


def _for_tokens(weights: Tensor, token_mask: Tensor) -> Tensor:
    """Expand per-turn weights to their tokens; detached, and 0 at padding."""
    spread = weights.unsqueeze(-1) if weights.dim() == token_mask.dim() - 1 else weights
    return _real(spread.detach().expand(token_mask.shape), token_mask)


def _real(array: Tensor, token_mask: Tensor) -> Tensor:
    return torch.where(token_mask, array, 0.0)
