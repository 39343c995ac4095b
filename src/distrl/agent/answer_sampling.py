"""Autoregressive sampling of answers from the model's own distribution.

Only the temperature is applied: no top-k, no top-p, no penalties, so that the log-probabilities
recorded here are those that training computes for the same tokens. An answer ends with its end
token, which is part of it, or after `max_new_tokens`. Once per token the number of unfinished
answers is read from the device; if it is half of the rows or less, finished rows are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from distrl.agent.architectures.architecture import DecodingState
from distrl.agent.token_scores import token_distribution
from distrl.bounds import Bounds, Checked, Fixed


@dataclass(frozen=True, slots=True)
class SamplingSettings(Checked):
    """How answers are sampled."""

    temperature: Annotated[
        float, Bounds(0.0, 100.0, "(below 1 sharpens the distribution)", open=True)
    ] = 1.0
    max_new_tokens: Annotated[int, Bounds(1, 10**6, "tokens in an answer")] = 64
    greedy: Annotated[
        bool, Fixed("training explores by sampling; evaluation.greedy is for evaluation")
    ] = False  # take the likeliest token; log-probs are still those of the sampling distribution


@dataclass(frozen=True, slots=True)
class SampledAnswer:
    """The tokens of an answer, end token included, and the log-probability of each one."""

    token_ids: tuple[int, ...]
    log_probs: tuple[float, ...]


def sample_answers(
    state: DecodingState,
    end_token_ids: Tensor,  # [ends]
    sampling: SamplingSettings,
    rng: torch.Generator,
) -> list[SampledAnswer]:
    """Sample one answer for each row of a decoding that has just begun."""
    count, device = len(state.logits), end_token_ids.device
    tokens = torch.zeros((sampling.max_new_tokens, count), dtype=torch.long, device=device)
    log_probs = torch.zeros(tokens.shape, device=device)
    lengths = torch.zeros(count, dtype=torch.long, device=device)
    rows = torch.arange(count, device=device)  # original indices of the rows still decoded
    going_on = torch.ones_like(rows, dtype=torch.bool)
    for place in range(sampling.max_new_tokens):
        distribution = token_distribution(state.logits, sampling.temperature)
        chosen = distribution.argmax(-1) if sampling.greedy else drawn(distribution, rng)
        tokens[place, rows] = chosen
        log_probs[place, rows] = distribution.gather(-1, chosen.unsqueeze(-1)).squeeze(-1)
        lengths[rows] += going_on
        going_on &= torch.isin(chosen, end_token_ids, invert=True)
        left = int(going_on.sum())
        if not left or place + 1 == sampling.max_new_tokens:
            break
        if 2 * left <= len(rows):
            kept = going_on.nonzero().squeeze(1)
            state.keep(kept)
            rows, chosen, going_on = rows[kept], chosen[kept], going_on[kept]
        state.step(chosen)
    answers = zip(tokens.T.tolist(), log_probs.T.tolist(), lengths.tolist(), strict=True)
    return [SampledAnswer(tuple(ids[:end]), tuple(logs[:end])) for ids, logs, end in answers]


def drawn(distribution: Tensor, rng: torch.Generator) -> Tensor:  # [n, vocabulary] -> [n]
    """Draw one token from each row of log-probabilities.

    The token with the least E/p, for exponential E, is a draw from p. Unlike `multinomial` this
    does not synchronise with the GPU to validate p.
    """
    noise = torch.empty_like(distribution).exponential_(generator=rng)
    return (distribution - noise.log()).argmax(-1)
