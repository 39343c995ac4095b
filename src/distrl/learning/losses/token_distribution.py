"""From logits to what the losses need: log-probabilities and the entropy of the token distribution.

The entropy is that of the policy's own next-token distribution, not the surprisal of what was once
done: raising the latter would push down everything in the replay. Logits of −inf (tokens that are
forbidden) are allowed; half precision is widened to float32; padding may hold anything and has
neither a result nor a gradient.
"""

from __future__ import annotations

import torch
from torch import Tensor

from distrl.learning.losses.averages import Averaging, Total, token_mean


def token_log_probs(
    logits: Tensor,  # [..., tokens, vocabulary]
    token_ids: Tensor,  # [..., tokens]
    token_mask: Tensor,  # [..., tokens]
    temperature: float = 1.0,
) -> Tensor:
    """The log π(token) as sampled at this temperature, [..., tokens]; 0 at padding.

    Use the temperature of sampling: behaviour log-probs were recorded with it applied.
    """
    distribution = log_softmax(logits, token_mask, temperature)
    chosen = torch.where(token_mask, token_ids, 0).unsqueeze(-1)
    return torch.where(token_mask, distribution.gather(-1, chosen).squeeze(-1), 0.0)


def token_entropy(
    logits: Tensor,  # [..., tokens, vocabulary]
    token_mask: Tensor,  # [..., tokens]
    temperature: float = 1.0,
) -> Tensor:
    """ℍ = −Σ_v p_v·log p_v of every token's distribution, in nats, [..., tokens]; 0 at padding."""
    logs = log_softmax(logits, token_mask, temperature)
    finite = torch.where(logs == -torch.inf, 0.0, logs)  # 0·log 0 = 0
    return torch.where(token_mask, -(logs.exp() * finite).sum(-1), 0.0)


def entropy_bonus(
    logits: Tensor,  # [..., tokens, vocabulary]
    token_mask: Tensor,  # [..., tokens]
    *,
    temperature: float = 1.0,
    averaging: Averaging = "per_token",
    total: Total = None,
) -> Tensor:
    """The mean token entropy, to be subtracted from a loss: L − β·bonus keeps exploring."""
    return token_mean(token_entropy(logits, token_mask, temperature), token_mask, averaging, total)


def log_softmax(logits: Tensor, token_mask: Tensor, temperature: float = 1.0) -> Tensor:
    """The log p over the vocabulary, in float32 at least; uniform at padding."""
    wide = torch.promote_types(logits.dtype, torch.float32)
    real = torch.where(token_mask.unsqueeze(-1), logits, 0.0).to(wide)
    return torch.log_softmax(real / temperature, dim=-1)
