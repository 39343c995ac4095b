"""What the policy minimises: policy gradient, PPO, the invalid-action term, imitation.

Log-probs are per token, [..., tokens] (usually [batch, time, tokens]) with their own mask;
advantages, filters and flags are per turn, [...], and hold for every token of the turn. Gradients
flow through `log_probs` alone: advantages, ratios and old log-probs are weights and are detached
here, whatever the caller did. `averaging` and `total` are those of `averages`. Every function
returns one number to minimise; padding may hold anything.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from distrl.errors import InvalidSetting
from distrl.learning.losses.averages import Averaging, Total, token_mean
from distrl.learning.targets.ratios import RatioLevel, at_level, truncate


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
    """
    weights = _for_tokens(advantages, token_mask)
    if ratios is not None:
        weights = weights * truncate(_for_tokens(ratios, token_mask), cap)
    return token_mean(-weights * _real(log_probs, token_mask), token_mask, averaging, total)


def ppo(
    log_probs: Tensor,  # [..., tokens]
    behaviour_log_probs: Tensor,  # [..., tokens]
    advantages: Tensor,  # [...] per turn, or [..., tokens]
    token_mask: Tensor,  # [..., tokens]
    *,
    clip: float = 0.2,
    clip_high: float | None = None,
    level: RatioLevel = "token",
    averaging: Averaging = "per_token",
    total: Total = None,
) -> Tensor:
    """−E[min(ρ·A, clip(ρ, 1 − clip, 1 + clip_high)·A)], ρ = π/μ at the level that is asked for.

    `clip_high` (default: `clip`) lets rare tokens grow faster than others shrink.
    """
    ratios = at_level(level, log_probs, behaviour_log_probs.detach(), token_mask)
    surrogate = _clipped(ratios, _for_tokens(advantages, token_mask), clip, clip_high)
    return token_mean(-surrogate, token_mask, averaging, total)


def decoupled_ppo(
    log_probs: Tensor,  # [..., tokens]: π_θ, the policy in training
    proximal_log_probs: Tensor,  # [..., tokens]: π_prox, the policy to stay near (a recent one)
    behaviour_log_probs: Tensor,  # [..., tokens]: μ, the policy that acted
    advantages: Tensor,  # [...] per turn, or [..., tokens]
    token_mask: Tensor,  # [..., tokens]
    *,
    clip: float = 0.2,
    clip_high: float | None = None,
    behaviour_cap: float = math.inf,
    level: RatioLevel = "token",
    averaging: Averaging = "per_token",
    total: Total = None,
) -> Tensor:
    """−E_μ[w·min(r·A, clip(r)·A)], r = π_θ/π_prox, w = min(behaviour_cap, π_prox/μ).

    Old data is corrected for by w, a weight; the trust region r is around a recent policy, so that
    it does not forbid to learn only because the data is old. With π_prox = μ it is PPO.
    """
    proximal = proximal_log_probs.detach()
    ratios = at_level(level, log_probs, proximal, token_mask)
    correction = at_level(level, proximal, behaviour_log_probs.detach(), token_mask)
    surrogate = _clipped(ratios, _for_tokens(advantages, token_mask), clip, clip_high)
    weighted = truncate(correction, behaviour_cap) * surrogate
    return token_mean(-weighted, token_mask, averaging, total)


def invalid_action(
    log_probs: Tensor,  # [..., tokens]
    invalid: Tensor,  # [...] per turn: True where the answer could not be read or carried out
    token_mask: Tensor,  # [..., tokens]
    *,
    ratios: Tensor | None = None,  # [...] per turn, or [..., tokens]
    cap: float = 1.0,
    averaging: Averaging = "per_token",
    total: Total = None,
) -> Tensor:
    """E_μ[min(cap, ρ)·1{invalid}·log π]: the score-function form of the share of invalid actions.

    The flag alone is constant in θ; times log π it has the gradient of the expected share, and a
    step down lowers the probability of the invalid answer. Hand in ratios on replayed data: they
    let the push fade as the answer becomes rare, where log π alone would fall for ever.
    """
    blame = -invalid.to(log_probs.dtype)
    return policy_gradient(
        log_probs, blame, token_mask, ratios=ratios, cap=cap, averaging=averaging, total=total
    )


def imitation(
    log_probs: Tensor,  # [..., tokens]
    token_mask: Tensor,  # [..., tokens]
    *,
    weights: Tensor | None = None,  # [...] per turn, or [..., tokens]: a filter of 0 and 1
    averaging: Averaging = "per_token",
    total: Total = None,
) -> Tensor:
    """−E[w·log π], the negative log-likelihood of filtered behaviour cloning.

    The mean is over every real token; to take it over the kept ones, narrow the mask instead.
    """
    kept = torch.ones_like(log_probs) if weights is None else weights
    return policy_gradient(log_probs, kept, token_mask, averaging=averaging, total=total)


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
