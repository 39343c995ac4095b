"""What a policy needs of a model, whatever its shape: say an answer token by token, or judge one.

`begin` reads the prompts once and says what may come first; `step` takes the tokens that were
chosen and says what may come next, one forward pass of one token each. `judge` is the same thing
for answers that are known: one pass over prompts and answers. Both must give the same logits for
the same tokens; that is what off-policy corrections stand on.

Inputs come as an `InputBuilder` made them, on the CPU; a shape brings them to its device. A shape
adds no randomness, and no gradients where its caller forbids them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

Tensors = Mapping[str, Tensor]


class DecodingState(Protocol):
    """A batch of answers under way."""

    @property
    def logits(self) -> Tensor:  # [n, vocabulary]
        """Of the next token."""
        ...

    def step(self, tokens: Tensor) -> None:  # [n]
        """These tokens were chosen; rows whose answer has ended may get anything."""
        ...


@dataclass(frozen=True, slots=True)
class ForwardResult:
    """What the model thinks of known answers, before the last step to the vocabulary.

    That step is left to the caller, who takes it for as many rows at a time as memory allows:
    `project` turns rows of `states` into logits.
    """

    beginnings: Tensor  # [n, hidden]: what the model makes of each prompt; values are read off it
    states: Tensor  # [n, k, any]: at each token of the answers, before it is known
    project: Callable[[Tensor], Tensor]  # [m, any] -> [m, vocabulary]


class Architecture(Protocol):
    """One shape of model."""

    @property
    def hidden_size(self) -> int: ...

    @property
    def vocabulary_size(self) -> int: ...

    def begin(self, inputs: Tensors, max_new_tokens: int) -> DecodingState: ...

    def judge(self, inputs: Tensors, answers: Tensor) -> ForwardResult:  # answers: [n, k]
        """`answers` are padded on the right with any token; k may be 0."""
        ...
