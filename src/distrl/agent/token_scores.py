"""Log-probabilities and entropies of tokens, without all logits in memory at once.

A row of logits in full precision is as wide as the vocabulary (150,000 numbers for Qwen), and a
gradient needs several such rows for each token. So rows are computed in chunks, and each chunk is
recomputed in the backward pass (gradient checkpointing).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

CHUNK_NUMBERS = 2**26  # logits in full precision at a time: 256 MB

Project = Callable[[Tensor], Tensor]


def token_scores(
    states: Tensor,  # [m, any]
    project: Project,  # [m, any] -> [m, vocabulary]
    tokens: Tensor,  # [m]
    temperature: float,
    vocabulary: int,
    chunk_numbers: int = CHUNK_NUMBERS,
) -> tuple[Tensor, Tensor]:
    """Return each token's log p and the entropy of its distribution, both [m], in float32."""
    rows = max(1, chunk_numbers // vocabulary)
    if len(tokens) <= rows:
        return _chunk_scores(states, project, tokens, temperature)
    parts = [
        checkpoint(_chunk_scores, some, project, chosen, temperature, use_reentrant=False)
        for some, chosen in zip(torch.split(states, rows), torch.split(tokens, rows), strict=True)
    ]
    log_probs, entropies = zip(*parts, strict=True)
    return torch.cat(log_probs), torch.cat(entropies)


def token_distribution(logits: Tensor, temperature: float) -> Tensor:
    """Return the sampling distribution as log p: temperature applied, no top-k or top-p."""
    return torch.log_softmax(logits.float() / temperature, dim=-1)


def _chunk_scores(
    states: Tensor, project: Project, tokens: Tensor, temperature: float
) -> tuple[Tensor, Tensor]:
    distribution = token_distribution(project(states), temperature)  # [m, vocabulary]
    log_probs = distribution.gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    # A model may give a token a probability of 0: then 0·log 0 = 0, without gradient.
    finite = torch.where(distribution == -torch.inf, 0.0, distribution)
    return log_probs, -(distribution.exp() * finite).sum(-1)
