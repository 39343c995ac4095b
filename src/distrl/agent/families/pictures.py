"""Screens as tensors, and the placeholder tokens for them in the text.

Each family crops, resizes and counts pictures in its own way (`Pictures`); the result has one form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from transformers import AutoImageProcessor

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.model_family import ModelParts
from distrl.agent.families.pixels import (
    Floats,
    PixelScale,
    at_once,
    pixel_scale,
    resized,
    tiles_of,
)
from distrl.errors import InvalidSetting, NotAModel
from distrl.records import Screen

PROCESSOR_FILES = ("preprocessor_config.json", "processor_config.json")


@dataclass(frozen=True, slots=True)
class PlacedPicture:
    """One picture in the text: `words` mark its place, and the n-th image token among them is
    repeated `runs[n]` times. `size` is the picture after resizing.
    """

    words: str
    runs: tuple[int, ...]
    size: ImageSize


@dataclass(frozen=True, slots=True)
class PreparedPictures:
    """The pictures of a batch: tensors for the model, and the pictures of each prompt."""

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


@dataclass(frozen=True, slots=True)
class OneSize:
    """Pictures of one size, whatever the shape of the screen: for Gemma 3 and Auto-UI."""

    scale: PixelScale
    filter_number: int
    size: ImageSize

    def of(self, screens: Sequence[Screen]) -> Tensor:  # [screens, 3, height, width]
        pixels = np.empty((len(screens), 3, self.size.height, self.size.width), np.float32)
        at_once(lambda job: self._write(*job), zip(screens, pixels, strict=True))
        return torch.from_numpy(pixels)

    def _write(self, screen: Screen, into: Floats) -> None:
        picture = resized(screen.pixels, self.size, self.filter_number)
        self.scale.write(tiles_of(picture, self.size)[0], into)


def one_size(parts: ModelParts) -> OneSize:
    """As the model's directory says; a pixel budget makes no sense here."""
    processor = image_processor(parts)
    size = edges(processor, "size")
    if parts.pixels.given:
        raise InvalidSetting(
            f"{parts.pixels}: a {parts.config.model_type!r} model sees every picture as "
            f"{size['width']}×{size['height']} pixels; leave min_pixels and max_pixels out"
        )
    seen = ImageSize(size["width"], size["height"])
    return OneSize(pixel_scale(processor), int(processor.resample), seen)
