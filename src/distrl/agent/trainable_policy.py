"""The protocol of a policy that can be trained: it scores stored answers.

The learner never sees logits, prompts or images. It gets log-probabilities of stored tokens, the
entropies of their distributions and the values of the screens, and backpropagates through them.
One forward pass computes all of these; tensors have one row per turn. They are on the policy's
device, in float32 or wider, whatever the policy computes in.
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
    Padding may hold anything. `value_logits` are the logits of success probabilities, one for each
    head of the critic; logits keep losses on them exact.
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
        """Return value logits of screens without an answer, such as a trajectory's last one."""
        ...

    def instruction_logits(self, instructions: Sequence[str]) -> Tensor:  # [n]
        """Return logits of success at tasks, predicted from their instructions alone."""
        ...

    def policy_parameters(self) -> Iterable[torch.nn.Parameter]:
        """Return the parameters that the policy loss may change."""
        ...

    def critic_parameters(self) -> Iterable[torch.nn.Parameter]:
        """Return the parameters that the value losses may change: the value heads."""
        ...

    def weights(self) -> dict[str, Tensor]:
        """Return a copy of all trained weights, policy and critic, by name."""
        ...

    def load_weights(self, weights: Mapping[str, Tensor], version: int) -> None:
        """Load the weights of another policy of the same sizes; decisions carry `version`."""
        ...

    @property
    def weight_version(self) -> int: ...


@runtime_checkable
class SupportsCheckpointing(Protocol):
    """A policy that can trade time for memory; an optional extension of `TrainablePolicy`."""

    def start_checkpointing(self) -> bool:
        """Enable gradient checkpointing; return False if it is already on or not allowed."""
        ...
