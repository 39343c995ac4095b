"""Screens as tensors, and where they stand in the text.

Each family cuts, resizes and counts pictures in its own way; what comes out has one shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor
from transformers import AutoImageProcessor

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.model_family import ModelParts
from distrl.errors import NotAModel
from distrl.records import Screen

PROCESSOR_FILES = ("preprocessor_config.json", "processor_config.json")


@dataclass(frozen=True, slots=True)
class PlacedPicture:
    """One picture in the text: `words` stand where it is, and each image token among them stands
    for a run of so many as `runs` says. `size` is the picture as the model sees it.
    """

    words: str
    runs: tuple[int, ...]
    size: ImageSize


@dataclass(frozen=True, slots=True)
class PreparedPictures:
    """The pictures of a batch: tensors for the model, and for each prompt what stands in it."""

    tensors: dict[str, Tensor]
    placed: tuple[tuple[PlacedPicture, ...], ...]


class Pictures(Protocol):
    """Prepares the screens of some prompts; there is at least one screen among them."""

    def seen_size(self, screen: Screen) -> ImageSize: ...

    def prepare(self, screens: Sequence[Sequence[Screen]]) -> PreparedPictures: ...


def image_processor(parts: ModelParts) -> Any:
    """The model's own, for its settings. Nothing is downloaded and no code is run."""
    if not any((parts.directory / name).is_file() for name in PROCESSOR_FILES):
        raise NotAModel(
            f"{parts.directory} has no {' or '.join(PROCESSOR_FILES)}, which says how pictures are "
            "prepared; copy it from the model that this one was made from"
        )
    try:
        return AutoImageProcessor.from_pretrained(  # type: ignore[no-untyped-call]
            parts.directory, backend="pil", local_files_only=True, trust_remote_code=False
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotAModel(
            f"{parts.directory} says how pictures are prepared in a way that transformers cannot "
            f"read: {error}"
        ) from error


def side_by_side(
    placed: Sequence[PlacedPicture], screens: Sequence[Sequence[Screen]]
) -> tuple[tuple[PlacedPicture, ...], ...]:
    """A flat list of pictures, dealt out to the prompts that they belong to."""
    rest = iter(placed)
    return tuple(tuple(next(rest) for _ in row) for row in screens)


def edges(processor: Any, name: str) -> dict[str, int]:
    """A size setting of an image processor, whether it keeps a dict or an object."""
    value = dict(getattr(processor, name))
    return {key: int(edge) for key, edge in value.items() if edge is not None}
