"""Gemma 3: every picture becomes a square of one size and the same number of tokens.

A tall screen is squeezed. (Gemma's pan-and-scan crops would double the tokens of a picture; they
are off by default there, too.) The tokens of a picture attend to each other in both directions, so
the model must be told which they are (`token_type_ids`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.chat_format import PictureMarks
from distrl.agent.families.decoder_inputs import DecoderInputs, decoder_inputs
from distrl.agent.families.model_family import LANGUAGE_TARGETS, ModelFamily, ModelParts
from distrl.agent.families.pictures import OneSize, PlacedPicture, PreparedPictures, one_size
from distrl.records import Screen

START, IMAGE, END = "<start_of_image>", "<image_soft_token>", "<end_of_image>"
MARKS = PictureMarks(IMAGE, START, START, (START, END), "<end_of_turn>")


@dataclass(frozen=True, slots=True)
class GemmaPictures:
    """Implements `Pictures`."""

    pixels: OneSize
    tokens: int

    def seen_size(self, screen: Screen) -> ImageSize:
        return self.pixels.size

    def prepare(self, screens: Sequence[Sequence[Screen]]) -> PreparedPictures:
        flat = [screen for row in screens for screen in row]
        picture = PlacedPicture(f"\n\n{START}{IMAGE}{END}\n\n", (self.tokens,), self.pixels.size)
        return {"pixel_values": self.pixels.of(flat)}, [picture] * len(flat)


def gemma_inputs(parts: ModelParts) -> DecoderInputs:
    pictures = GemmaPictures(one_size(parts), int(parts.config.mm_tokens_per_image))
    return decoder_inputs(parts, MARKS, pictures, token_types="token_type_ids")


GEMMA = ModelFamily("Gemma 3", ("gemma3",), "autoglm", LANGUAGE_TARGETS, gemma_inputs)
