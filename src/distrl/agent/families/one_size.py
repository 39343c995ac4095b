"""Pictures of one size, whatever shape the screen has: for Gemma 3 and Auto-UI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.model_family import ModelParts
from distrl.agent.families.pictures import edges, image_processor
from distrl.agent.families.pixels import (
    Floats,
    PixelScale,
    at_once,
    pixel_scale,
    resized,
    tiles_of,
)
from distrl.errors import InvalidSetting
from distrl.records import Screen


@dataclass(frozen=True, slots=True)
class OneSize:
    """Squeezes and stretches."""

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
