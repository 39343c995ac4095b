"""Qwen2-VL, Qwen2.5-VL and Qwen3-VL: pictures keep their shape, and cost tokens by their area.

A screen is resized so that both edges are whole numbers of merged patches and its area lies within
the model's bounds. Qwen2-VL and Qwen2.5-VL give taps in pixels of that resized picture, so its size
is needed to read an answer; Qwen3-VL counts in thousandths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.chat_format import PictureMarks
from distrl.agent.families.decoder_inputs import DecoderInputs, decoder_inputs
from distrl.agent.families.model_family import (
    LANGUAGE_TARGETS,
    ModelFamily,
    ModelInputs,
    ModelParts,
)
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
from distrl.agent.prompt import Prompt
from distrl.records import Screen

START, IMAGE, END = "<|vision_start|>", "<|image_pad|>", "<|vision_end|>"
MARKS = PictureMarks(IMAGE, IMAGE, START + IMAGE + END, (START, END), "<|im_end|>")


@dataclass(frozen=True, slots=True)
class QwenPictures:
    """Implements `Pictures`. One image token for each square of merged patches.

    A patch is one row of `pixel_values`; patches that will be merged are adjacent. Each patch is
    repeated `frames` times in its row: to these models a picture is a video of equal frames.
    """

    writer: PixelWriter
    patch: int  # pixels of an edge
    merge: int  # patches of an edge
    frames: int
    min_pixels: int
    max_pixels: int

    def seen_size(self, screen: Screen) -> ImageSize:
        height, width = smart_resize(
            screen.height,
            screen.width,
            factor=self.patch * self.merge,
            min_pixels=self.min_pixels,
            max_pixels=self.max_pixels,
        )
        return ImageSize(width, height)

    def prepare(self, screens: Sequence[Sequence[Screen]]) -> PreparedPictures:
        tensors, placed = self.place(screens)
        flat = [screen for row in screens for screen in row]
        patches = tensors["image_grid_thw"].prod(dim=1).tolist()
        pixels = write_each(flat, patches, (3 * self.frames * self.patch**2,), self._write)
        return {"pixel_values": pixels, **tensors}, placed

    def place(self, screens: Sequence[Sequence[Screen]]) -> PreparedPictures:
        """As `prepare`, without pixels: no screen is unpacked."""
        sizes = [self.seen_size(screen) for row in screens for screen in row]
        grids = [(1, size.height // self.patch, size.width // self.patch) for size in sizes]
        return {"image_grid_thw": torch.tensor(grids)}, [
            PlacedPicture(IMAGE, (rows * columns // self.merge**2,), size)
            for (_, rows, columns), size in zip(grids, sizes, strict=True)
        ]

    def _write(self, screen: Screen, into: Floats) -> None:
        size = self.seen_size(screen)
        picture = self.writer.resized(screen.pixels, size)
        square = self.merge * self.patch
        down, across = size.height // square, size.width // square
        cut = picture.reshape(down, self.merge, self.patch, across, self.merge, self.patch, 3)
        cut = np.ascontiguousarray(cut.transpose(0, 3, 1, 4, 6, 2, 5))
        area = self.patch**2
        self.writer.write(cut.reshape(-1, 3, 1, area), into.reshape(-1, 3, self.frames, area))


@dataclass(frozen=True, slots=True)
class QwenInputs(DecoderInputs):
    """Inputs that can omit pixels when the features of the screens are cached."""

    pictures: QwenPictures

    def build_without_pixels(self, prompts: Sequence[Prompt]) -> ModelInputs:
        return self._assembled(prompts, self.pictures.place)

    def pixels(self, screens: Sequence[Screen]) -> dict[str, Tensor]:
        """Return the inputs of the vision tower."""
        return self.pictures.prepare([screens])[0]


def qwen_inputs(parts: ModelParts) -> QwenInputs:
    processor = image_processor(parts)
    size = edges(processor, "size")
    pictures = QwenPictures(
        pixel_writer(processor),
        int(processor.patch_size),
        int(processor.merge_size),
        int(processor.temporal_patch_size),
        size["shortest_edge"],  # despite the names, these settings are areas in pixels
        size["longest_edge"],
    )
    made = decoder_inputs(parts, MARKS, pictures, token_types="mm_token_type_ids")
    return QwenInputs(made.chat, made.answers, pictures, made.image_token_id, made.token_types)


QWEN2_VL = ModelFamily(
    "Qwen2-VL and Qwen2.5-VL",
    ("qwen2_vl", "qwen2_5_vl"),
    "qwen2_5_vl",
    LANGUAGE_TARGETS,
    qwen_inputs,
)
QWEN3_VL = ModelFamily(
    "Qwen3-VL", ("qwen3_vl", "qwen3_vl_moe"), "qwen3_vl", LANGUAGE_TARGETS, qwen_inputs
)
