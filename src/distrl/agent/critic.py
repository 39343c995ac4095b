"""The value heads: the probability of success, predicted from the policy's state of a prompt.

Each head is a small network on the trunk's hidden state; the learner uses the minimum over heads.
One more head predicts success from the instruction alone. All give logits, in float32 whatever the
trunk computes in, since a success probability near 1 needs the precision. By default no gradient
flows back into the trunk: the critic may learn fast without moving the policy.

With `instruction_words` each head also reads the instruction as a hashed bag of words: the kind of
task says more about success than the state does (benchmarks/critic.py). A bag is normalised to
length 1, so that no statistics of the data are needed and heads do not memorise single words. Its
weights start at zero, where the values are those without words.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from distrl.bounds import Bounds, Checked, Fixed, Meaning
from distrl.errors import UsageError


@dataclass(frozen=True, slots=True)
class CriticSettings(Checked):
    """The heads' number, width and inputs, and whether their gradient reaches the trunk."""

    heads: Annotated[int, Bounds(1, 1000, "heads; the least of their values counts")] = 2
    width: Annotated[int, Bounds(1, 10**6, "units"), Fixed("heads are small beside any trunk")] = (
        256  # width of a head's hidden layer
    )
    trains_trunk: Annotated[bool, Meaning("let the critic's gradient move the trunk")] = False
    instruction_words: Annotated[
        int, Bounds(0, 10**6, "slots for the words of instructions, 512 is enough; 0: not read")
    ] = 0


class Critic(nn.Module):
    """Predicts values from hidden states. Initial values are near one half; heads differ.

    `words` is the output of `bags_of_words` for the instructions; None if heads read no words.
    """

    def __init__(self, hidden_size: int, settings: CriticSettings, seed: int = 0) -> None:
        super().__init__()
        self.settings = settings
        sizes = (hidden_size, settings.width, settings.instruction_words)
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)  # the CPU's only, not the GPUs' generators
            self.heads = nn.ModuleList(ValueHead(*sizes) for _ in range(settings.heads))
            self.instruction = ValueHead(*sizes)

    def values(
        self, states: Tensor, words: Tensor | None = None
    ) -> Tensor:  # [n, hidden], [n, slots] -> [n, heads]
        with torch.autocast(states.device.type, enabled=False):
            seen = self._seen(states)
            return torch.cat([head(seen, words) for head in self.heads], dim=-1)

    def instruction_values(
        self, states: Tensor, words: Tensor | None = None
    ) -> Tensor:  # [n, hidden], [n, slots] -> [n]
        with torch.autocast(states.device.type, enabled=False):
            logits: Tensor = self.instruction(self._seen(states), words).squeeze(-1)
            return logits

    def bags_of_words(self, instructions: Sequence[str]) -> Tensor | None:  # [n, slots]
        slots = self.settings.instruction_words
        if not slots:
            return None
        bags = [torch.from_numpy(bag_of_words(each, slots)) for each in instructions]
        return torch.stack(bags).to(next(self.parameters()).device)

    def _seen(self, states: Tensor) -> Tensor:
        return (states if self.settings.trains_trunk else states.detach()).float()


class ValueHead(nn.Sequential):
    """A value head. It begins with a norm: trunks' states differ by orders of magnitude."""

    def __init__(self, hidden_size: int, width: int, slots: int) -> None:
        last = nn.Linear(width, 1)
        nn.init.normal_(last.weight, std=0.01)
        nn.init.zeros_(last.bias)
        super().__init__(nn.LayerNorm(hidden_size), nn.Linear(hidden_size, width), nn.GELU(), last)
        self.words = nn.Parameter(torch.zeros(width, slots)) if slots else None

    def forward(self, states: Tensor, words: Tensor | None = None) -> Tensor:
        norm, first, activation, last = self
        hidden = first(norm(states))
        if self.words is not None:
            if words is None:
                raise UsageError(
                    f"a critic with {self.words.shape[1]} slots for the words of instructions was "
                    "given none; pass what its bags_of_words makes of the instructions"
                )
            hidden = hidden + nn.functional.linear(nn.functional.normalize(words), self.words)
        values: Tensor = last(activation(hidden))
        return values


def bag_of_words(instruction: str, slots: int) -> NDArray[np.float32]:  # [slots]
    """Count each word; its slot is its CRC-32 modulo `slots`, the same on every machine."""
    found = np.zeros(slots, np.float32)
    for word in instruction.lower().split():
        found[zlib.crc32(word.strip(".,:;!?\"'").encode()) % slots] += 1.0
    return found
