"""A policy of any size that reads pixels, to measure the code around a model.

Screens are subsampled to 64 × 64 and cut into patches. Each patch is a token: it passes through a
stack of wide layers, as it would in a transformer, and the output is the mean over the patches. It
learns nothing useful; its passes cost what those of a model of its size and with as many tokens
cost. A bounded cache keeps what it has read of a screen, by the screen's address: a batch is read
at least twice.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from distrl.agent.trainable_policy import Scores
from distrl.records import Action, Decision, Observation, Pixels, Screen, Tap, Wait
from distrl.replay.compressed_screen import CompressedScreen

SIDE = 64
REMEMBERED_SCREENS = 400  # about the screens of one update, each of 12 kB


class PixelPolicy(nn.Module):
    """Implements `TrainablePolicy` and `CountedPolicy`; every answer has `tokens` tokens."""

    def __init__(
        self,
        width: int,
        layers: int = 2,
        tokens: int = 12,
        vocabulary: int = 64,
        patches: int = 16,  # a square number: 1, 4, 16, 64
        seed: int = 0,
    ) -> None:
        super().__init__()
        torch.manual_seed(seed)
        sizes = [SIDE * SIDE * 3 // patches, *[width] * layers]
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
        self.patches = patches
        self.weight_version = 0
        self.forward_tokens = 0
        self.training_tokens = 0
        self._remembered: OrderedDict[str, Pixels] = OrderedDict()

    @property
    def parameter_count(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())

    @property
    def flops(self) -> float:
        """Count 2·P forward and 4·P backward; every weight but the critic's meets every patch."""
        return 2.0 * self.parameter_count * (self.forward_tokens + 3 * self.training_tokens)

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        with torch.no_grad():
            _, distribution = self._think(self._look(observations))
        odds = distribution.exp().flatten(0, 1)
        drawn = torch.multinomial(odds, 1).reshape(distribution.shape[:2])  # [n, k]
        chosen = distribution.gather(-1, drawn.unsqueeze(-1)).squeeze(-1)
        return [
            Decision(_action(ids), "", tuple(ids), tuple(logs), self.weight_version)
            for ids, logs in zip(drawn.tolist(), chosen.tolist(), strict=True)
        ]

    def score(
        self, observations: Sequence[Observation], answers: Sequence[Sequence[int]]
    ) -> Scores:
        pixels = self._look(observations)
        ids = torch.tensor([list(answer) for answer in answers], device=pixels.device)
        values, distribution = self._think(pixels)
        log_probs = distribution.gather(-1, ids.unsqueeze(-1)).squeeze(-1)
        entropies = -(distribution.exp() * distribution).sum(-1)
        return Scores(log_probs, entropies, torch.ones_like(ids, dtype=torch.bool), values)

    def value_logits(self, observations: Sequence[Observation]) -> Tensor:
        return self._think(self._look(observations))[0]

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

    def _look(self, observations: Sequence[Observation]) -> Tensor:  # [n, patches, numbers]
        seen = np.stack([self._seen(observation.screen) for observation in observations])
        pixels = torch.from_numpy(seen).to(self.instruction.device)
        return pixels.reshape(len(seen), self.patches, -1).float() / 255.0

    def _seen(self, screen: Screen) -> Pixels:  # [64 * 64 * 3]
        if not isinstance(screen, CompressedScreen):
            return _cut(screen.pixels, self.patches)
        known = self._remembered.get(screen.address)
        if known is None:
            known = self._remembered[screen.address] = _cut(screen.pixels, self.patches)
            if len(self._remembered) > REMEMBERED_SCREENS:
                self._remembered.popitem(last=False)
        return known

    def _think(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Return value logits [n, 2] and log p [n, tokens, vocabulary], in full precision."""
        if torch.is_grad_enabled():
            self.training_tokens += len(pixels) * self.patches
        else:
            self.forward_tokens += len(pixels) * self.patches
        thought = self.trunk(pixels)  # [n, patches, width]
        words = self.words(thought).float().mean(1).unflatten(-1, self.shape)
        values = self.heads(thought.detach().mean(1)).float()
        return values, torch.log_softmax(words, dim=-1)


def _action(ids: Sequence[int]) -> Action:
    """Make a third of the answers waits, which recur on phones; the others are taps."""
    return Wait() if ids[0] % 3 == 0 else Tap(ids[0] % 64 / 64, ids[1] % 64 / 64)


@cache
def _places(length: int) -> NDArray[np.int64]:
    """Return 64 evenly spread indices."""
    return np.linspace(0, length - 1, SIDE).astype(np.int64)


def _cut(pixels: Pixels, patches: int) -> Pixels:
    """Return the subsampled pixels as one row, patch after patch."""
    height, width, _ = pixels.shape
    small = pixels[_places(height)][:, _places(width)]  # [64, 64, 3]
    across = round(patches**0.5)
    squares = small.reshape(across, SIDE // across, across, SIDE // across, 3)
    return np.ascontiguousarray(squares.swapaxes(1, 2)).reshape(-1)
