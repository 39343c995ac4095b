"""Autoregressive sampling of answers from the model's own distribution.

Nothing but the temperature is applied to it: no top-k, no top-p, no penalties,
so that the log-probabilities recorded here are those that training computes for the same tokens.
An answer ends with its end token, which is part of it, or after `max_new_tokens`. All rows go on
until the last has ended; the device is asked once a token whether that is so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from distrl.agent.architectures.architecture import DecodingState
from distrl.agent.token_scores import token_distribution
from distrl.bounds import Bounds, Fixed, check_bounds


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """How answers are drawn."""

    temperature: Annotated[
        float, Bounds(0.0, 100.0, "(below 1 sharpens the distribution)", open=True)
    ] = 1.0
    max_new_tokens: Annotated[int, Bounds(1, 10**6, "tokens in an answer")] = 64
    greedy: Annotated[
        bool, Fixed("training explores by sampling; evaluation.greedy is for evaluation")
    ] = False  # the likeliest token; log-probs stay those of the distribution

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True, slots=True)
class SampledAnswer:
    """The tokens of an answer, its end included, and how likely each was when it was drawn."""

    token_ids: tuple[int, ...]
    log_probs: tuple[float, ...]


def sample_answers(
    state: DecodingState,
    end_token_ids: Tensor,  # [ends]
    sampling: SamplingSettings,
    rng: torch.Generator,
) -> list[SampledAnswer]:
    """One answer for each row of a decoding that has just begun."""
    tokens: list[Tensor] = []
    log_probs: list[Tensor] = []
    lengths = torch.zeros(len(state.logits), dtype=torch.long, device=end_token_ids.device)
    going_on = torch.ones_like(lengths, dtype=torch.bool)
    while True:
        distribution = token_distribution(state.logits, sampling.temperature)
        chosen = distribution.argmax(-1) if sampling.greedy else drawn(distribution, rng)
        tokens.append(chosen)
        log_probs.append(distribution.gather(-1, chosen.unsqueeze(-1)).squeeze(-1))
        lengths += going_on
        going_on &= torch.isin(chosen, end_token_ids, invert=True)
        if len(tokens) == sampling.max_new_tokens or not bool(going_on.any()):
            break
        state.step(chosen)
    rows = zip(
        torch.stack(tokens, 1).tolist(),
        torch.stack(log_probs, 1).tolist(),
        lengths.tolist(),
        strict=True,
    )
    return [SampledAnswer(tuple(ids[:end]), tuple(logs[:end])) for ids, logs, end in rows]


def drawn(distribution: Tensor, rng: torch.Generator) -> Tensor:  # [n, vocabulary] -> [n]
    """One draw from each row of log-probabilities.

    The one with the least E/p, for exponential E, is a draw from p; and unlike `multinomial` this
    does not make a GPU wait to have p checked.
    """
    noise = torch.empty_like(distribution).exponential_(generator=rng)
    return (distribution - noise.log()).argmax(-1)
