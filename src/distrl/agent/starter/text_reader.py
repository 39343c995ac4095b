"""Splits a prompt, whose tokens are single characters, into words with their letters.

It uses tensor operations only, so that a whole batch is split at once. A word is a run of
characters without white space. Quotes, commas and the like at its edges are not part of it; the
tokens right before and after a word are returned with it. A token of the dialect (an action, a
place) is a word by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from distrl.agent.starter.configuration import StarterConfig

EDGES = "\"“”‘’'?!,;:.()…"


@dataclass(frozen=True, slots=True)
class ReadText:
    """The words of a batch of prompts."""

    signs: Tensor  # [n, words, letters]: the sign of each letter, 0 after the last
    tokens: Tensor  # [n, words]: the token of a word that is one, else 0
    before: Tensor  # [n, words]: the token right before the word
    after: Tensor  # [n, words]: the token right after it
    mask: Tensor  # [n, words], bool


class TextReader(nn.Module):
    """A module without trainable weights; its buffers are lookup tables by token id."""

    sign_of: Tensor
    is_edge: Tensor
    is_space: Tensor

    def __init__(self, config: StarterConfig) -> None:
        super().__init__()
        self.config = config
        numbers = {sign: number for number, sign in enumerate(config.signs, start=1)}
        sign_of = torch.zeros(config.vocab_size, dtype=torch.long)
        is_edge = torch.zeros(config.vocab_size, dtype=torch.bool)
        is_space = torch.zeros(config.vocab_size, dtype=torch.bool)
        for place, character in enumerate(config.characters, start=config.first_character):
            sign_of[place] = numbers.get(character, 0)
            is_edge[place] = character in EDGES
            is_space[place] = character.isspace()
        is_space[config.pad_token_id] = True
        # Persistent buffers: a model that is loaded via the meta device cannot compute them.
        self.register_buffer("sign_of", sign_of)
        self.register_buffer("is_edge", is_edge)
        self.register_buffer("is_space", is_space)

    def forward(self, ids: Tensor) -> ReadText:  # ids [n, length]
        letter = self.sign_of[ids] > 0
        edge = self.is_edge[ids]
        gap = self.is_space[ids]
        bare = ~letter & ~gap  # a token that is a word by itself (or an odd character)
        outside = gap | bare
        for _ in range(3):  # edges may be up to three deep: ”).
            near = (
                functional.pad(outside, (1, 0), value=True)[:, :-1]
                | functional.pad(outside, (0, 1), value=True)[:, 1:]
            )
            outside = outside | (edge & near)
        inside = ~outside
        begins = (inside & ~functional.pad(inside, (1, 0))[:, :-1]) | bare
        counted = inside | bare
        number = begins.cumsum(1) - 1
        counted = counted & (number < self.config.max_words)
        return self._gathered(ids, begins & counted, counted, number.clamp(min=0), bare)

    def _gathered(
        self, ids: Tensor, begins: Tensor, counted: Tensor, number: Tensor, bare: Tensor
    ) -> ReadText:
        batch, words, letters = len(ids), self.config.max_words, self.config.letters
        at = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
        slot = torch.where(counted, number, words)  # the last slot collects what is not counted
        first = at.new_zeros(batch, words + 1).scatter_(1, torch.where(begins, slot, words), at)
        last = at.new_zeros(batch, words + 1).scatter_reduce_(1, slot, at, "amax")
        position = at - first.gather(1, slot)
        fits = counted & (position < letters) & ~bare
        target = torch.where(fits, slot * letters + position, words * letters)
        signs = at.new_zeros(batch, words * letters + 1).scatter_(1, target, self.sign_of[ids])
        count = begins.sum(1, keepdim=True)
        first, last = first[:, :words], last[:, :words]
        padded = functional.pad(ids, (1, 1))
        own = torch.where(bare.gather(1, first), ids.gather(1, first), 0)
        mask = torch.arange(words, device=ids.device) < count
        return ReadText(
            signs=signs[:, : words * letters].view(batch, words, letters),
            tokens=own * mask,
            before=padded.gather(1, first) * mask,
            after=padded.gather(1, last + 2) * mask,
            mask=mask,
        )
