"""How likely the policy finds what was done, against the policy that did it: ρ = π / μ.

A turn is one answer of the policy, a product over its tokens; its ratio is heavy-tailed. So there
are three: per token, per turn (the product) and length-normalised (its geometric mean). All are
built from log-probabilities and made in log space, where a turn of many tokens neither overflows
nor vanishes: exponents are held to ±LOG_LIMIT. The ratio of padding is 1, that of nothing.

Gradients flow through the new log-probs (PPO needs them); `losses.policy_gradient` detaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

RatioLevel = Literal["token", "turn", "length_normalised"]
LOG_LIMIT = 20.0  # e²⁰ ≈ 5·10⁸: beyond it a ratio says no more than "far"
ROUNDING = 1e-3  # a ratio this close to a limit is at the limit: on-policy ones are 1 ± a hair
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def per_token(log_probs: Tensor, behaviour_log_probs: Tensor, token_mask: Tensor) -> Tensor:
    """ρ_{t,j} = exp(log π − log μ) of every token, [batch, time, tokens]."""
    return _ratio(_log_ratios(log_probs, behaviour_log_probs, token_mask))


def per_turn(log_probs: Tensor, behaviour_log_probs: Tensor, token_mask: Tensor) -> Tensor:
    """ρ_t = Π_j ρ_{t,j}, the ratio of the whole answer, [batch, time]."""
    return _ratio(_log_ratios(log_probs, behaviour_log_probs, token_mask).sum(-1))


def length_normalised(log_probs: Tensor, behaviour_log_probs: Tensor, token_mask: Tensor) -> Tensor:
    """(Π_j ρ_{t,j})^{1/tokens}, the geometric mean over the tokens of a turn, [batch, time]."""
    logs = _log_ratios(log_probs, behaviour_log_probs, token_mask)
    tokens = token_mask.sum(-1).clamp(min=1)
    return _ratio(logs.sum(-1) / tokens)


def at_level(
    level: RatioLevel, log_probs: Tensor, behaviour_log_probs: Tensor, token_mask: Tensor
) -> Tensor:
    """The ratio of the chosen level for every token, [batch, time, tokens]; 1 at padding."""
    if level == "token":
        return per_token(log_probs, behaviour_log_probs, token_mask)
    of_turn = per_turn if level == "turn" else length_normalised
    ratios = of_turn(log_probs, behaviour_log_probs, token_mask).unsqueeze(-1)
    return torch.where(token_mask, ratios, 1.0)


def truncate(ratios: Tensor, cap: float = 1.0) -> Tensor:
    """min(cap, ρ): bounds the variance, at the price of a bias towards μ."""
    return ratios.clamp(max=cap)


def clip_fraction(ratios: Tensor, mask: Tensor, *, low: float = 0.0, high: float = 1.0) -> Tensor:
    """Share of the real ratios outside [low, high], by more than rounding; 0 if there are none."""
    below, above = ratios < low * (1.0 - ROUNDING), ratios > high * (1.0 + ROUNDING)
    outside = mask & (below | above)
    return outside.sum() / mask.sum().clamp(min=1)


def effective_sample_size(ratios: Tensor, mask: Tensor) -> Tensor:
    """(Σ ρ)² / Σ ρ² over the real ratios: how many equally weighted samples they are worth."""
    weights = torch.where(mask, ratios, 0.0).flatten()
    largest = torch.cat([weights, weights.new_zeros(1)]).max()
    scaled = weights / torch.where(largest > 0, largest, 1.0)  # squares stay finite
    return scaled.sum() ** 2 / scaled.square().sum().clamp(min=torch.finfo(weights.dtype).tiny)


def quantiles(ratios: Tensor, mask: Tensor, at: Sequence[float] = QUANTILES) -> Tensor:
    """Quantiles of the real ratios for a report, [len(at)]; NaN where there are none."""
    real = ratios.detach()[mask]
    places = torch.tensor(at, dtype=ratios.dtype, device=ratios.device)
    return torch.quantile(real, places) if real.numel() else torch.full_like(places, torch.nan)


def _log_ratios(log_probs: Tensor, behaviour_log_probs: Tensor, token_mask: Tensor) -> Tensor:
    new = torch.where(token_mask, log_probs, 0.0)
    old = torch.where(token_mask, behaviour_log_probs, 0.0)
    return new - old


def _ratio(log_ratios: Tensor) -> Tensor:
    return log_ratios.clamp(-LOG_LIMIT, LOG_LIMIT).exp()
