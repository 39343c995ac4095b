"""Idefics3 and SmolVLM: a picture is cut into square tiles, followed by a small copy of the whole.

The screen is enlarged to the model's longest edge, then stretched to whole tiles. Each tile has the
same number of image tokens, after a token for its row and column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.chat_format import PictureMarks
from distrl.agent.families.decoder_inputs import DecoderInputs, decoder_inputs
from distrl.agent.families.model_family import ModelFamily, ModelParts
from distrl.agent.families.pictures import (
    Floats,
    PixelWriter,
    PlacedPicture,
    PreparedPictures,
    at_once,
    edges,
    image_processor,
    pixel_writer,
)
from distrl.records import Screen

IMAGE, AROUND, WHOLE = "<image>", "<fake_token_around_image>", "<global-img>"
MARKS = PictureMarks(IMAGE, IMAGE, IMAGE, (AROUND, WHOLE), "<end_of_utterance>")


@dataclass(frozen=True, slots=True)
class IdeficsPictures:
    """Implements `Pictures`."""

    writer: PixelWriter
    tile_edge: int
    longest_edge: int
    splits: bool
    tokens_per_tile: int

    def seen_size(self, screen: Screen) -> ImageSize:
        if not self.splits:
            return ImageSize(self.tile_edge, self.tile_edge)
        width, height = self._enlarged(screen)
        if width >= height:
            height = int(self._whole(width) / (width / height))
        else:
            width = int(self._whole(height) * (width / height))
        return ImageSize(self._whole(width), self._whole(height))

    def prepare(self, screens: Sequence[Sequence[Screen]]) -> PreparedPictures:
        placed = [[self._placed(screen) for screen in row] for row in screens]
        tiles = [[len(picture.runs) for picture in row] for row in placed]
        shape = (len(screens), max(map(sum, tiles)), 3, self.tile_edge, self.tile_edge)
        pixels = np.zeros(shape, np.float32)  # the model skips tiles of zeros (padding)
        jobs = [
            (screen, pixels[prompt, sum(tiles[prompt][:number]) :])
            for prompt, row in enumerate(screens)
            for number, screen in enumerate(row)
        ]
        at_once(lambda job: self._write(*job), jobs)
        return {"pixel_values": torch.from_numpy(pixels)}, [each for row in placed for each in row]

    def _write(self, screen: Screen, into: Floats) -> None:
        picture = self.writer.resized(screen.pixels, self._enlarged(screen))
        picture = self.writer.resized(picture, self.seen_size(screen))
        self.writer.write_tiles(picture, picture, ImageSize(self.tile_edge, self.tile_edge), into)

    def _placed(self, screen: Screen) -> PlacedPicture:
        size = self.seen_size(screen)
        rows, columns = size.height // self.tile_edge, size.width // self.tile_edge
        whole = f"{AROUND}{WHOLE}{IMAGE}{AROUND}"
        if rows == columns == 1:
            return PlacedPicture(whole, (self.tokens_per_tile,), size)
        lines = [
            "".join(f"{AROUND}<row_{row}_col_{column}>{IMAGE}" for column in range(1, columns + 1))
            for row in range(1, rows + 1)
        ]
        runs = (self.tokens_per_tile,) * (rows * columns + 1)
        return PlacedPicture("\n".join(lines) + f"\n\n{whole}", runs, size)

    def _enlarged(self, screen: Screen) -> ImageSize:
        ratio = screen.width / screen.height
        if ratio >= 1.0:
            return ImageSize(self.longest_edge, _even(self.longest_edge / ratio))
        return ImageSize(_even(self.longest_edge * ratio), self.longest_edge)

    def _whole(self, edge: int) -> int:
        return math.ceil(edge / self.tile_edge) * self.tile_edge


def _even(edge: float) -> int:
    return max(1, int(edge) + int(edge) % 2)


def idefics_inputs(parts: ModelParts) -> DecoderInputs:
    processor = image_processor(parts)
    vision = parts.config.vision_config
    patches = (vision.image_size // vision.patch_size) ** 2
    pictures = IdeficsPictures(
        pixel_writer(processor),
        edges(processor, "max_image_size")["longest_edge"],
        edges(processor, "size")["longest_edge"],
        bool(processor.do_image_splitting),
        int(patches / parts.config.scale_factor**2),
    )
    return decoder_inputs(parts, MARKS, pictures)


TARGETS = r".*text_model.*\.(q_proj|k_proj|v_proj|o_proj)"
IDEFICS = ModelFamily(
    "Idefics3 and SmolVLM", ("idefics3", "smolvlm"), "autoglm", TARGETS, idefics_inputs
)
