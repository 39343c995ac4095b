"""LLaVA 1.5: a picture is a square, and as many tokens as the square has patches.

Its own image processor cuts the middle out of a picture. A screen is squeezed into the square
instead, so that its top and bottom are seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.chat_format import PictureMarks
from distrl.agent.families.decoder_inputs import DecoderInputs, decoder_inputs
from distrl.agent.families.model_family import LANGUAGE_TARGETS, ModelFamily, ModelParts
from distrl.agent.families.pictures import (
    OneSize,
    PlacedPicture,
    PreparedPictures,
    edges,
    image_processor,
    pixel_writer,
)
from distrl.records import Screen

IMAGE = "<image>"
MARKS = PictureMarks(image=IMAGE, placeholder=IMAGE, plain=IMAGE, needed=(), turn_end="</s>")


@dataclass(frozen=True, slots=True)
class LlavaPictures:
    """Implements `Pictures`."""

    pixels: OneSize
    tokens: int

    def seen_size(self, screen: Screen) -> ImageSize:
        return self.pixels.size

    def prepare(self, screens: Sequence[Sequence[Screen]]) -> PreparedPictures:
        flat = [screen for row in screens for screen in row]
        picture = PlacedPicture(IMAGE, (self.tokens,), self.pixels.size)
        return {"pixel_values": self.pixels.of(flat)}, [picture] * len(flat)


def llava_inputs(parts: ModelParts) -> DecoderInputs:
    processor = image_processor(parts)
    square = edges(processor, "crop_size")
    pixels = OneSize(pixel_writer(processor), ImageSize(square["width"], square["height"]))
    return decoder_inputs(parts, MARKS, LlavaPictures(pixels, int(parts.config.image_seq_length)))


LLAVA = ModelFamily(
    name="llava",
    model_types=("llava",),
    dialect="percent",
    adapter_targets=LANGUAGE_TARGETS,
    input_builder=llava_inputs,
)
