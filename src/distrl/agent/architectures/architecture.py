"""The two operations that a policy needs of a model, whatever its architecture.

`begin` and `step` are autoregressive decoding: the first reads the prompts once and gives the
logits of the first token, the second takes the chosen tokens and gives those of the next, one
forward pass of one token each. `forward` is a teacher-forced pass over prompts and known answers.
Both must give the same logits for the same tokens; off-policy corrections depend on that.

Inputs come from an `InputBuilder`, on the CPU; an architecture moves them to its device. It adds no
randomness, and no gradients where its caller disables them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor
from transformers import PreTrainedModel

Tensors = Mapping[str, Tensor]


class DecodingState(Protocol):
    """A batch of answers that are being decoded."""

    @property
    def logits(self) -> Tensor:  # [n, vocabulary]
        """Logits of the next token."""
        ...

    def step(self, tokens: Tensor) -> None:  # [n]
        """Append the chosen tokens; rows whose answer has ended may get any token."""
        ...

    def keep(self, rows: Tensor) -> None:  # [m]
        """Drop all rows but these; the next `step` takes tokens for them only."""
        ...


@dataclass(frozen=True, slots=True)
class PrefixStates:
    """The keys and values of a prompt's first tokens in every layer (`agent.shared_prefix`)."""

    keys: Tensor  # [layers, key heads, tokens, width]
    values: Tensor

    def __len__(self) -> int:
        return self.keys.shape[2]

    def first(self, tokens: int) -> PrefixStates:
        """Return the states of fewer tokens; with causal attention, later ones do not matter."""
        return PrefixStates(self.keys[:, :, :tokens], self.values[:, :, :tokens])


@dataclass(frozen=True, slots=True)
class ForwardResult:
    """Hidden states at known answers, before the projection to the vocabulary.

    The projection is left to the caller, who does it for as many rows at a time as memory allows:
    `project` turns rows of `states` into logits.
    """

    prompt_states: Tensor  # [n, hidden]: of each prompt's last token, the input of the critic
    states: Tensor  # [n, k, any]: from which each token of the answers is predicted
    project: Callable[[Tensor], Tensor]  # [m, any] -> [m, vocabulary]


class Architecture(ABC):
    """A decoder-only or an encoder-decoder model."""

    def __init__(self, network: PreTrainedModel, text: Any) -> None:  # config of its text model
        self.network: Any = network
        self.device = network.device
        self.dtype = network.dtype
        self.hidden_size = int(text.hidden_size)
        self.vocabulary_size = int(text.vocab_size)

    @abstractmethod
    def begin(self, inputs: Tensors, max_new_tokens: int) -> DecodingState: ...

    @abstractmethod
    def forward(self, inputs: Tensors, answers: Tensor) -> ForwardResult:  # answers: [n, k]
        """`answers` are padded on the right with any token; k may be 0."""

    def moved(self, tensors: Tensors) -> dict[str, Tensor]:
        """Move tensors to the model's device, floating-point ones also to its dtype.

        Tensors in pinned memory are copied asynchronously.
        """
        wait = self.device.type != "cuda"
        there = {
            name: tensor.to(self.device, non_blocking=not wait and tensor.is_pinned())
            for name, tensor in tensors.items()
        }
        return {  # cast on the device: a CPU would take longer than the transfer
            name: tensor.to(self.dtype) if tensor.is_floating_point() else tensor
            for name, tensor in there.items()
        }
