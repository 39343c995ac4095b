"""A policy of any size that looks at pixels: for measuring what stands around a model.

Screens are thinned out to 64 × 64, run through a stack of wide layers, and each token of an answer
gets a softmax of its own from what comes out. It learns nothing worth having; its passes cost what
those of a model of its size cost, and `seconds` says how long they took.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from distrl.agent.trainable_policy import Scores
from distrl.records import Decision, Observation, Pixels, Wait

SIDE = 64


class PixelPolicy(nn.Module):
    """Implements `LearnedPolicy`; every answer has `tokens` tokens."""

    def __init__(
        self, width: int, layers: int = 2, tokens: int = 12, vocabulary: int = 64, seed: int = 0
    ) -> None:
        super().__init__()
        torch.manual_seed(seed)
        sizes = [SIDE * SIDE * 3, *[width] * layers]
        self.trunk = nn.Sequential(
            *(
                part
                for wide, narrow in pairwise(sizes)
                for part in (nn.Linear(wide, narrow), nn.GELU())
            )
        )
        self.words = nn.Linear(width, tokens * vocabulary)
        self.heads = nn.Linear(width, 2)
        self.instruction = nn.Parameter(torch.zeros(1))
        self.shape = (tokens, vocabulary)
        self.weight_version = 0
        self.seconds = 0.0

    @property
    def parameter_count(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        with torch.no_grad():
            _, distribution = self._think(self._look(observations))
        odds = distribution.exp().flatten(0, 1)
        drawn = torch.multinomial(odds, 1).reshape(distribution.shape[:2])  # [n, k]
        chosen = distribution.gather(-1, drawn.unsqueeze(-1)).squeeze(-1)
        return [
            Decision(Wait(), "", tuple(ids), tuple(logs), self.weight_version)
            for ids, logs in zip(drawn.tolist(), chosen.tolist(), strict=True)
        ]

    def score(
        self, observations: Sequence[Observation], answers: Sequence[Sequence[int]]
    ) -> Scores:
        pixels = self._look(observations)
        ids = torch.tensor([list(answer) for answer in answers], device=pixels.device)
        with self.timed():
            values, distribution = self._think(pixels)
            log_probs = distribution.gather(-1, ids.unsqueeze(-1)).squeeze(-1)
            entropies = -(distribution.exp() * distribution).sum(-1)
        return Scores(log_probs, entropies, torch.ones_like(ids, dtype=torch.bool), values)

    def value_logits(self, observations: Sequence[Observation]) -> Tensor:
        pixels = self._look(observations)
        with self.timed():
            return self._think(pixels)[0]

    def instruction_logits(self, instructions: Sequence[str]) -> Tensor:
        return self.instruction.expand(len(instructions))

    def policy_parameters(self) -> Iterable[nn.Parameter]:
        return [*self.trunk.parameters(), *self.words.parameters()]

    def critic_parameters(self) -> Iterable[nn.Parameter]:
        return [*self.heads.parameters(), self.instruction]

    def weights(self) -> dict[str, Tensor]:
        return {name: tensor.detach().clone() for name, tensor in self.state_dict().items()}

    def load_weights(self, weights: Mapping[str, Tensor], version: int) -> None:
        self.load_state_dict(dict(weights))
        self.weight_version = version

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Adds to `seconds` what the device really took."""
        begin = self.now()
        yield
        self.seconds += self.now() - begin

    def now(self) -> float:
        if self.instruction.is_cuda:
            torch.cuda.synchronize()
        return time.perf_counter()

    def _look(self, observations: Sequence[Observation]) -> Tensor:  # [n, 64 * 64 * 3]
        seen = np.stack([_thinned(observation.screen.pixels) for observation in observations])
        pixels = torch.from_numpy(seen).to(self.instruction.device)
        return pixels.flatten(1).float() / 255.0

    def _think(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Value logits [n, 2] and log p [n, tokens, vocabulary], in full precision."""
        thought = self.trunk(pixels)
        words = self.words(thought).float().unflatten(-1, self.shape)
        return self.heads(thought.detach()).float(), torch.log_softmax(words, dim=-1)


def _thinned(pixels: Pixels) -> Pixels:
    rows = np.linspace(0, pixels.shape[0] - 1, SIDE).astype(int)
    columns = np.linspace(0, pixels.shape[1] - 1, SIDE).astype(int)
    return np.ascontiguousarray(pixels[rows][:, columns])
