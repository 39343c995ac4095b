"""The protocol of a policy that can be trained: it scores answers that were given before.

The learner never sees logits, prompts or images; it asks for log-probabilities of stored tokens,
the entropy of the distributions they were drawn from and the value of the screens, and sends
gradients back through them. One forward pass gives all of it for one row of each tensor per turn.
The tensors are where the policy is, in float32 or wider, whatever it computes in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from distrl.agent.policy import Policy
from distrl.records import Observation


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of n turns; k is the number of tokens of the longest answer among them.

    Log-probabilities and entropies are those of the sampling distribution, temperature applied.
    Padding may hold anything. `values` are success probabilities in [0, 1] by each head of the
    critic, given as logits, so that losses on them stay exact.
    """

    log_probs: Tensor  # [n, k]
    entropies: Tensor  # [n, k]
    token_mask: Tensor  # [n, k], bool
    value_logits: Tensor  # [n, heads]


class TrainablePolicy(Policy, Protocol):
    """A policy that can be trained. `decide` samples; the rest is differentiable."""

    def score(
        self, observations: Sequence[Observation], answers: Sequence[Sequence[int]]
    ) -> Scores:
        """Score stored answers (token ids), each given to the observation at its index."""
        ...

    def value_logits(self, observations: Sequence[Observation]) -> Tensor:  # [n, heads]
        """The value of screens that no answer was given to, such as the last of a trajectory."""
        ...

    def instruction_logits(self, instructions: Sequence[str]) -> Tensor:  # [n]
        """How likely is success at a task, judged by its instruction alone."""
        ...

    def policy_parameters(self) -> Iterable[torch.nn.Parameter]:
        """What the policy loss may move."""
        ...

    def critic_parameters(self) -> Iterable[torch.nn.Parameter]:
        """What the value losses may move: the heads."""
        ...

    def weights(self) -> dict[str, Tensor]:
        """A copy of all that is learned, policy and critic, by name."""
        ...

    def load_weights(self, weights: Mapping[str, Tensor], version: int) -> None:
        """Take over the weights of another policy of the same sizes; decisions carry `version`."""
        ...

    @property
    def weight_version(self) -> int: ...


@runtime_checkable
class SupportsCheckpointing(Protocol):
    """A policy that can do with less memory for more time; optional beside `TrainablePolicy`."""

    def start_checkpointing(self) -> bool:
        """Score with gradient checkpointing from now on; False: it did so before, or must not."""
        ...
