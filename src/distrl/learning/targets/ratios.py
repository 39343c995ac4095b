"""Importance ratios ρ = π / μ of the current policy to the policy that acted.

The probability of a turn is a product over the tokens of its answer, so its ratio is heavy-tailed.
There are three levels: per token, per turn (the product) and length-normalised (the geometric mean
of the product). All are computed in log space, where a turn of many tokens neither overflows nor
underflows; exponents are clamped to ±LOG_LIMIT. The ratio at padding is 1.

Gradients flow through the new log-probs (PPO needs them); `losses.policy_gradient` detaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

RatioLevel = Literal["token", "turn", "length_normalised"]
LOG_LIMIT = 20.0  # e²⁰ ≈ 5·10⁸: beyond it the size of a ratio carries no information
ROUNDING = 1e-3  # a ratio this close to a limit counts as within: on-policy ones are not exactly 1
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def per_token(log_probs: Tensor, behaviour_log_probs: Tensor, token_mask: Tensor) -> Tensor:
    """Return ρ_{t,j} = exp(log π − log μ) of every token, [batch, time, tokens]."""
    return _ratio(_log_ratios(log_probs, behaviour_log_probs, token_mask))


def per_turn(log_probs: Tensor, behaviour_log_probs: Tensor, token_mask: Tensor) -> Tensor:
    """Return ρ_t = Π_j ρ_{t,j}, the ratio of the whole answer, [batch, time]."""
    return _ratio(_log_ratios(log_probs, behaviour_log_probs, token_mask).sum(-1))


def length_normalised(log_probs: Tensor, behaviour_log_probs: Tensor, token_mask: Tensor) -> Tensor:
    """Return (Π_j ρ_{t,j})^{1/tokens}, the geometric mean over a turn's tokens, [batch, time]."""
    logs = _log_ratios(log_probs, behaviour_log_probs, token_mask)
    tokens = token_mask.sum(-1).clamp(min=1)
    return _ratio(logs.sum(-1) / tokens)


def at_level(
    level: RatioLevel, log_probs: Tensor, behaviour_log_probs: Tensor, token_mask: Tensor
) -> Tensor:
    """Return the ratio of the chosen level for every token, [batch, time, tokens]; 1 at padding."""
    if level == "token":
        return per_token(log_probs, behaviour_log_probs, token_mask)
    of_turn = per_turn if level == "turn" else length_normalised
    ratios = of_turn(log_probs, behaviour_log_probs, token_mask).unsqueeze(-1)
    return torch.where(token_mask, ratios, 1.0)


def truncate(ratios: Tensor, cap: float = 1.0) -> Tensor:
    """Return min(cap, ρ): this bounds the variance, at the price of a bias towards μ."""
    return ratios.clamp(max=cap)


def clip_fraction(ratios: Tensor, mask: Tensor, *, low: float = 0.0, high: float = 1.0) -> Tensor:
    """Return the share of real ratios outside [low, high] by more than rounding; 0 if none."""
    below, above = ratios < low * (1.0 - ROUNDING), ratios > high * (1.0 + ROUNDING)
    outside = mask & (below | above)
    return outside.sum() / mask.sum().clamp(min=1)


def effective_sample_size(ratios: Tensor, mask: Tensor) -> Tensor:
    """Return (Σ ρ)² / Σ ρ² over the real ratios: the equivalent number of on-policy samples."""
    weights = torch.where(mask, ratios, 0.0).flatten()
    largest = torch.cat([weights, weights.new_zeros(1)]).max()
    scaled = weights / torch.where(largest > 0, largest, 1.0)  # so that squares stay finite
    return scaled.sum() ** 2 / scaled.square().sum().clamp(min=torch.finfo(weights.dtype).tiny)


def quantiles(ratios: Tensor, mask: Tensor, at: Sequence[float] = QUANTILES) -> Tensor:
    """Return quantiles of the real ratios, [len(at)]; NaN if there are none."""
    real = ratios.detach()[mask]
    places = torch.tensor(at, dtype=ratios.dtype, device=ratios.device)
    return torch.quantile(real, places) if real.numel() else torch.full_like(places, torch.nan)


def _log_ratios(log_probs: Tensor, behaviour_log_probs: Tensor, token_mask: Tensor) -> Tensor:
    new = torch.where(token_mask, log_probs, 0.0)
    old = torch.where(token_mask, behaviour_log_probs, 0.0)
    return new - old


def _ratio(log_ratios: Tensor) -> Tensor:
    return log_ratios.clamp(-LOG_LIMIT, LOG_LIMIT).exp()
