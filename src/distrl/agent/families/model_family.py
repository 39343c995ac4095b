"""What differs between families of models: image processors, image tokens, chat formats.

A family is chosen by the `model_type` in a model's config.json. It names the dialect that its
models write best and the weights that LoRA adapts, and it makes the `InputBuilder`, which turns
prompts into tensors and answers into tokens and back. A family whose model class is our own
registers that class with the Auto classes before anything is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from torch import Tensor

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.letterbox import Letterbox
from distrl.agent.prompt import Prompt, Sees
from distrl.records import Screen

if TYPE_CHECKING:
    from distrl.agent.families.tokenizers import AnswerTokens


@dataclass(frozen=True, slots=True)
class ModelInputs:
    """A batch of prompts as tensors on the CPU, padded on the left where a decoder reads them.

    `image_sizes` are the sizes of each prompt's last picture as the model saw it.
    """

    tensors: dict[str, Tensor]
    image_sizes: tuple[ImageSize, ...]


class InputBuilder(Protocol):
    """Makes the inputs of a model's `forward` for one family."""

    @property
    def answers(self) -> AnswerTokens:
        """The codec between answer text and tokens."""
        ...

    def seen_size(self, screen: Screen) -> ImageSize:
        """Return the size of a screen after resizing, as in `image_sizes`."""
        ...

    def build(self, prompts: Sequence[Prompt]) -> ModelInputs: ...


@runtime_checkable
class Letterboxes(Protocol):
    """An `InputBuilder` that keeps the aspect ratio of screens by padding; others stretch them."""

    def letterbox(self, screen: Screen) -> Letterbox | None:
        """Return where the screen lies in the picture; None if it fills it."""
        ...


@runtime_checkable
class ExpectsPrompts(Protocol):
    """An `InputBuilder` that can prefetch the inputs of a prompt in its own threads."""

    def expect(self, prompt: Prompt) -> None: ...


@dataclass(frozen=True, slots=True)
class ModelParts:
    """What a family builds its inputs from: a model's directory and config, without weights."""

    directory: Path
    config: Any  # a PreTrainedConfig; what is in it differs from family to family
    sees: Sees | None = None  # what the model is given of a screen; None: the family's default


# The attention projections of the language model, as most families name them.
LANGUAGE_TARGETS = r".*language_model.*\.(q_proj|k_proj|v_proj|o_proj)"


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """A family of models.

    `adapter_targets` is a regular expression over module names: the projections of the language
    model, not those of the image encoder. `frozen` is one over the names of weights that stay
    frozen when the whole model is trained: a screen reader should not unlearn to read. `sees` lists
    what its models can be given of a screen, the default first.
    """

    name: str
    model_types: tuple[str, ...]
    dialect: str
    adapter_targets: str
    input_builder: Callable[[ModelParts], InputBuilder]
    register: Callable[[], None] | None = None  # None: the classes are part of transformers
    past_actions: int = 4  # default number of past actions in a prompt
    frozen: str | None = None
    sees: tuple[Sees, ...] = ("screen", "elements", "both")
