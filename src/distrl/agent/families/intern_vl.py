"""InternVL (the versions in transformers): square tiles in the grid that fits best.

A screen is stretched to the grid of tiles whose shape is nearest to its own. Where there is more
than one tile, a small copy of the whole screen follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import get_optimal_tiled_canvas

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.chat_format import PictureMarks
from distrl.agent.families.decoder_inputs import DecoderInputs, decoder_inputs
from distrl.agent.families.model_family import LANGUAGE_TARGETS, ModelFamily, ModelParts
from distrl.agent.families.pictures import (
    Floats,
    PixelWriter,
    PlacedPicture,
    PreparedPictures,
    edges,
    image_processor,
    pixel_writer,
    write_each,
)
from distrl.records import Screen

START, IMAGE, END = "<img>", "<IMG_CONTEXT>", "</img>"
MARKS = PictureMarks(IMAGE, IMAGE, IMAGE, (START, END), "<|im_end|>")


@dataclass(frozen=True, slots=True)
class InternPictures:
    """Implements `Pictures`."""

    writer: PixelWriter
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
        pixels = write_each(flat, tiles, (3, self.tile.height, self.tile.width), self._write)
        return {"pixel_values": pixels}, [
            PlacedPicture(f"{START}{IMAGE}{END}", (count * self.tokens_per_tile,), size)
            for count, size in zip(tiles, sizes, strict=True)
        ]

    def _tiles(self, size: ImageSize) -> int:
        tiles = (size.width // self.tile.width) * (size.height // self.tile.height)
        return tiles + 1 if tiles > 1 else 1

    def _write(self, screen: Screen, into: Floats) -> None:
        picture = self.writer.resized(screen.pixels, self.seen_size(screen))
        self.writer.write_tiles(picture, screen.pixels, self.tile, into)


def intern_inputs(parts: ModelParts) -> DecoderInputs:
    processor = image_processor(parts)
    size = edges(processor, "size")
    tile = ImageSize(size["width"], size["height"])
    pictures = InternPictures(
        pixel_writer(processor),
        tile,
        int(parts.config.image_seq_length),
        int(processor.min_patches),
        int(processor.max_patches),
    )
    return decoder_inputs(parts, MARKS, pictures)


INTERN_VL = ModelFamily("InternVL", ("internvl",), "autoglm", LANGUAGE_TARGETS, intern_inputs)
