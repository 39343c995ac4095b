"""How far the policy has moved from a reference policy: KL(π ‖ π_ref), exact or estimated.

Per token; `averages.token_mean` makes a penalty of it. The reference gets no gradient. Estimates
take tokens that were sampled from π (on replayed tokens weigh them by their ratio).
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from distrl.learning.losses.averages import Averaging, Total, token_mean
from distrl.learning.losses.token_distribution import log_softmax
from distrl.learning.targets.ratios import LOG_LIMIT

KlEstimator = Literal["k1", "k3"]


def estimated_kl(
    log_probs: Tensor,  # [..., tokens]
    reference_log_probs: Tensor,  # [..., tokens]
    token_mask: Tensor,  # [..., tokens]
    estimator: KlEstimator = "k3",
) -> Tensor:
    """k1 = log π − log π_ref; k3 = e^{−k1} − 1 + k1, never negative. [..., tokens], 0 at padding.

    Both have the mean KL(π ‖ π_ref). For reports take either; as a loss take k3: the gradient of k1
    is the bare score, with mean 0 under π (that of k3 has the mean ∇KL(π_ref ‖ π)).
    """
    new = torch.where(token_mask, log_probs, 0.0)
    reference = torch.where(token_mask, reference_log_probs.detach(), 0.0)
    k1 = (new - reference).clamp(-LOG_LIMIT, LOG_LIMIT)
    return k1 if estimator == "k1" else torch.expm1(-k1) + k1


def exact_kl(
    logits: Tensor,  # [..., tokens, vocabulary]
    reference_logits: Tensor,  # [..., tokens, vocabulary]
    token_mask: Tensor,  # [..., tokens]
    temperature: float = 1.0,
) -> Tensor:
    """Σ_v π_v·(log π_v − log π_ref,v) over the whole vocabulary, [..., tokens]; 0 at padding."""
    new = log_softmax(logits, token_mask, temperature)
    reference = log_softmax(reference_logits.detach(), token_mask, temperature)
    possible = new != -torch.inf
    difference = torch.where(possible, new, 0.0) - torch.where(possible, reference, 0.0)
    return torch.where(token_mask, (new.exp() * difference).sum(-1), 0.0)


def kl_penalty(
    divergences: Tensor,  # [..., tokens]
    token_mask: Tensor,  # [..., tokens]
    *,
    averaging: Averaging = "per_token",
    total: Total = None,
) -> Tensor:
    """The mean divergence, to be added to a loss."""
    return token_mean(divergences, token_mask, averaging, total)
