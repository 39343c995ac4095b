"""The value heads: the probability of success, predicted from the policy's state of a prompt.

Each head is a small network of its own on the trunk's representation; the learner takes the least
of them. One more predicts it from the instruction alone. All give logits, in float32 whatever the
trunk computes in, since a success probability near 1 needs the digits. By default no
gradient goes back from here into the trunk: the critic may learn fast without moving the policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor, nn

from distrl.bounds import Bounds, Checked, Fixed, Meaning


@dataclass(frozen=True, slots=True)
class CriticSettings(Checked):
    """The size of the heads, and whether they may move the trunk."""

    heads: Annotated[int, Bounds(1, 1000, "heads; the least of their values counts")] = 2
    width: Annotated[int, Bounds(1, 10**6, "units"), Fixed("heads are small beside any trunk")] = (
        256  # of a head's hidden layer
    )
    trains_trunk: Annotated[bool, Meaning("let the critic's gradient move the trunk")] = False


class Critic(nn.Module):
    """Reads values off representations. Starts with values near one half; heads differ."""

    def __init__(self, hidden_size: int, settings: CriticSettings, seed: int = 0) -> None:
        super().__init__()
        self.settings = settings
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)  # not those of the GPUs as well
            self.heads = nn.ModuleList(
                _head(hidden_size, settings.width) for _ in range(settings.heads)
            )
            self.instruction = _head(hidden_size, settings.width)

    def values(self, states: Tensor) -> Tensor:  # [n, hidden] -> [n, heads]
        with torch.autocast(states.device.type, enabled=False):
            seen = self._seen(states)
            return torch.cat([head(seen) for head in self.heads], dim=-1)

    def instruction_values(self, states: Tensor) -> Tensor:  # [n, hidden] -> [n]
        with torch.autocast(states.device.type, enabled=False):
            logits: Tensor = self.instruction(self._seen(states)).squeeze(-1)
            return logits

    def _seen(self, states: Tensor) -> Tensor:
        return (states if self.settings.trains_trunk else states.detach()).float()


def _head(hidden_size: int, width: int) -> nn.Sequential:
    """A norm first: trunks differ by orders of magnitude in the size of their states."""
    last = nn.Linear(width, 1)
    nn.init.normal_(last.weight, std=0.01)
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.LayerNorm(hidden_size), nn.Linear(hidden_size, width), nn.GELU(), last)
