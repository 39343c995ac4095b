"""From a prompt to what a model's `forward` takes: the only place that knows families apart.

Every family of models has its own image processor, its own image tokens and its own chat format.
An `InputBuilder` hides them: prompts in, tensors out, and texts and tokens both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.prompt import Prompt
from distrl.records import Screen


@dataclass(frozen=True, slots=True)
class ModelInputs:
    """A batch of prompts as tensors on the CPU, padded on the left where a decoder reads them.

    `image_sizes` are the sizes of each prompt's last picture as the model saw it.
    """

    tensors: dict[str, Tensor]
    image_sizes: tuple[ImageSize, ...]


class InputBuilder(Protocol):
    """Makes the inputs of one family of models."""

    @property
    def end_token_ids(self) -> frozenset[int]:
        """Any of these ends an answer; it is itself part of the answer's tokens."""
        ...

    @property
    def pad_token_id(self) -> int: ...

    def seen_size(self, screen: Screen) -> ImageSize:
        """How large the model will see a screen; what `image_sizes` will say of it."""
        ...

    def build(self, prompts: Sequence[Prompt]) -> ModelInputs: ...

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of an answer, without its end token."""
        ...

    def encode(self, text: str) -> tuple[int, ...]:
        """The tokens of an answer, end token included: what a model that gave it would sample."""
        ...
