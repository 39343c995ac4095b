"""InternVL (the versions that transformers knows): square tiles in the grid that fits best.

A screen is stretched to the grid of tiles whose shape is nearest to its own, and a small whole one
follows where there is more than one tile. The pixel budget bounds the number of tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import torch
from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import get_optimal_tiled_canvas

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.chat_format import PictureMarks
from distrl.agent.families.decoder_inputs import DecoderInputs, decoder_inputs
from distrl.agent.families.model_family import ModelFamily, ModelParts
from distrl.agent.families.pictures import (
    Floats,
    PixelScale,
    PlacedPicture,
    PreparedPictures,
    at_once,
    edges,
    image_processor,
    pixel_scale,
    resized,
    side_by_side,
    tiles_of,
)
from distrl.records import Screen

START, IMAGE, END = "<img>", "<IMG_CONTEXT>", "</img>"
MARKS = PictureMarks(IMAGE, IMAGE, IMAGE, (START, END), "<|im_end|>")


@dataclass(frozen=True, slots=True)
class InternPictures:
    """Implements `Pictures`."""

    scale: PixelScale
    filter_number: int
    tile: ImageSize
    tokens_per_tile: int
    min_tiles: int
    max_tiles: int

    def seen_size(self, screen: Screen) -> ImageSize:
        if self.max_tiles == 1:
            return self.tile
        columns, rows = get_optimal_tiled_canvas(
            (screen.height, screen.width),
            (self.tile.height, self.tile.width),
            self.min_tiles,
            self.max_tiles,
        )
        return ImageSize(columns * self.tile.width, rows * self.tile.height)

    def prepare(self, screens: Sequence[Sequence[Screen]]) -> PreparedPictures:
        flat = [screen for row in screens for screen in row]
        sizes = [self.seen_size(screen) for screen in flat]
        tiles = [self._tiles(size) for size in sizes]
        ends = list(accumulate(tiles))
        pixels = np.empty((ends[-1], 3, self.tile.height, self.tile.width), np.float32)
        places = [pixels[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        at_once(lambda job: self._write(*job), zip(flat, sizes, places, strict=True))
        placed = [
            PlacedPicture(f"{START}{IMAGE}{END}", (count * self.tokens_per_tile,), size)
            for count, size in zip(tiles, sizes, strict=True)
        ]
        tensors = {"pixel_values": torch.from_numpy(pixels)}
        return PreparedPictures(tensors, side_by_side(placed, screens))

    def _tiles(self, size: ImageSize) -> int:
        tiles = (size.width // self.tile.width) * (size.height // self.tile.height)
        return tiles + 1 if tiles > 1 else 1

    def _write(self, screen: Screen, size: ImageSize, into: Floats) -> None:
        tiles = tiles_of(resized(screen.pixels, size, self.filter_number), self.tile)
        self.scale.write(tiles, into[: len(tiles)])
        if len(into) > len(tiles):
            whole = resized(screen.pixels, self.tile, self.filter_number)
            self.scale.write(tiles_of(whole, self.tile), into[len(tiles) :])


def intern_inputs(parts: ModelParts) -> DecoderInputs:
    processor = image_processor(parts)
    size = edges(processor, "size")
    tile = ImageSize(size["width"], size["height"])
    area = tile.width * tile.height
    low, high = parts.pixels.min_pixels, parts.pixels.max_pixels
    min_tiles = -(-low // area) if low else int(processor.min_patches)
    max_tiles = max(1, high // area) if high else max(min_tiles, int(processor.max_patches))
    pictures = InternPictures(
        pixel_scale(processor),
        int(processor.resample),
        tile,
        int(parts.config.image_seq_length),
        min(min_tiles, max_tiles),
        max_tiles,
    )
    return decoder_inputs(parts, MARKS, pictures)


INTERN_VL = ModelFamily(
    "InternVL",
    ("internvl",),
    "autoglm",
    r".*language_model.*\.(q_proj|k_proj|v_proj|o_proj)",
    intern_inputs,
)
