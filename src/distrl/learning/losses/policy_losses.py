"""What the policy minimises: policy gradient, PPO, divergence from a reference.

Log-probs are per token, [..., tokens] (usually [batch, time, tokens]) with their own mask;
advantages, filters and flags are per turn, [...], and hold for every token of the turn. Gradients
flow through `log_probs` alone: advantages, ratios and old log-probs are weights and are detached
here, whatever the caller did. `averaging` and `total` are those of `averages`. Padding may hold
anything.
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
    ratios: Tensor | None = None,  # [...] per turn, or [..., tokens]; None: on-policy or inside A
    cap: float = 1.0,
    averaging: Averaging = "per_token",
    total: Total = None,
) -> Tensor:
    """−E_μ[min(cap, ρ)·A·log π] (equation 6 of DistRL, its entropy and penalty apart).

    With ratios per turn and `whole_turn` it is the equation to the letter; with ratios per token
    every token is corrected for itself. The ratio is a weight: no gradient goes through it.

    Weights of 0 and 1 in place of A make it the negative log-likelihood of filtered imitation. With
    A = −1 for unreadable answers, else 0, its gradient is that of the expected share of them: a
    step down lowers their probability. Hand in ratios on replayed data then: they let the push
    fade as the answer becomes rare, where log π alone would fall for ever.
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
    """−E_μ[w·min(r·A, clip(r, 1 − clip, 1 + clip_high)·A)], ratios at the level that is asked for.

    Coupled, without π_prox: r = π/μ and w = 1. Decoupled: r = π/π_prox, w = min(behaviour_cap,
    π_prox/μ). Old data is corrected for by w, a weight; the trust region r is around a recent
    policy, so that it does not forbid to learn only because the data is old. With π_prox = μ the
    two are one. `clip_high` (default: `clip`) lets rare tokens grow faster than others shrink.
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
    """KL(π ‖ π_ref) by the estimate k3 = e^{−k} − 1 + k with k = log π − log π_ref, [..., tokens].

    It is never negative, and 0 at padding. The tokens are samples of π; weigh replayed ones by
    their ratio. As a loss k alone would not do: its gradient has the mean 0 under π, that of k3 the
    mean ∇KL(π_ref ‖ π). The reference gets no gradient.
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
    """Per-turn weights for each of their tokens; a constant to the gradient; 0 at padding."""
    spread = weights.unsqueeze(-1) if weights.dim() == token_mask.dim() - 1 else weights
    return _real(spread.detach().expand(token_mask.shape), token_mask)


def _real(array: Tensor, token_mask: Tensor) -> Tensor:
    return torch.where(token_mask, array, 0.0)
