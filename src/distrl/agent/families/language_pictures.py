"""Prompts with pictures for a language model that has no image token.

The chat template handles text only, so a placeholder word marks where a picture goes. The text
before and after it is tokenised separately; in between comes one token for each item of the screen.
Its id is one past the vocabulary, and `SoftTokenDecoder` replaces it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.chat_format import PictureMarks, chat_format
from distrl.agent.families.decoder_inputs import DecoderInputs, prompt_row
from distrl.agent.families.model_family import ModelInputs, ModelParts
from distrl.agent.families.pictures import PlacedPicture, PreparedPictures
from distrl.agent.families.tokenizers import answer_tokens, read_tokenizer
from distrl.agent.letterbox import Letterbox, fitted
from distrl.agent.prompt import Prompt, full_size
from distrl.agent.starter.building import shipped_directory
from distrl.agent.starter.configuration import StarterConfig
from distrl.agent.starter.item_reader import ITEMS
from distrl.records import Screen

PLACEHOLDER = "<|screen|>"
MARKS = PictureMarks("", PLACEHOLDER, PLACEHOLDER, (), "")
START = "\n"  # the embedding of its last token initialises all soft tokens
READER = (
    "with agent.sees='both' a language model is shown the screen by the starter's reader, which"
)
ADVICE = "give agent.sees=elements, or take a vision-language model"


@dataclass(frozen=True, slots=True)
class ItemPictures:
    """Implements `Pictures`: raw pixels of one size, for the starter's screen reader."""

    size: ImageSize

    def seen_size(self, screen: Screen) -> ImageSize:
        return self.size

    def letterbox(self, screen: Screen) -> Letterbox | None:
        return fitted(full_size(screen), self.size, READER, ADVICE)

    def prepare(self, screens: Sequence[Sequence[Screen]]) -> PreparedPictures:
        tensors, placed = self.place(screens)
        flat = [self._pixels(screen) for row in screens for screen in row]
        return {**tensors, "pixel_values": torch.stack(flat)}, placed

    def place(self, screens: Sequence[Sequence[Screen]]) -> PreparedPictures:
        """As `prepare`, without pixels: no screen is unpacked."""
        flat = [screen for row in screens for screen in row]
        for screen in flat:
            self.letterbox(screen)  # raises if the screen does not fit
        return {}, [PlacedPicture(PLACEHOLDER, (ITEMS,), self.size)] * len(flat)

    def _pixels(self, screen: Screen) -> Tensor:  # [height, width, 3]
        letterbox = self.letterbox(screen)
        if letterbox is None:
            return torch.tensor(screen.pixels)
        picture = torch.empty((self.size.height, self.size.width, 3), dtype=torch.uint8)
        letterbox.draw(screen.pixels, picture.numpy())
        return picture


@dataclass(frozen=True, slots=True)
class LanguagePictureInputs(DecoderInputs):
    """Inputs that can omit pixels when the features of the screens are cached."""

    pictures: ItemPictures

    def letterbox(self, screen: Screen) -> Letterbox | None:
        return self.pictures.letterbox(screen)

    @property
    def start_token_id(self) -> int:
        """The token whose embedding every soft token has before training."""
        ids = self.chat.tokenizer.encode(START, add_special_tokens=False)
        return int(ids[-1]) if ids else self.answers.pad_token_id

    def build_without_pixels(self, prompts: Sequence[Prompt]) -> ModelInputs:
        return self._assembled(prompts, self.pictures.place)

    def pixels(self, screens: Sequence[Screen]) -> dict[str, Tensor]:
        """Return the inputs of the screen reader."""
        return self.pictures.prepare([screens])[0]

    def _row(self, prompt: Prompt, placed: Sequence[PlacedPicture]) -> list[int]:
        first, *rest = self.chat.text(prompt).split(PLACEHOLDER)
        row = prompt_row(self.chat.tokenizer, first)
        for picture, after in zip(placed, rest, strict=True):
            row += [self.image_token_id] * picture.runs[0]
            row += self.chat.tokenizer.encode(after, add_special_tokens=False)
        return row


def language_picture_inputs(parts: ModelParts) -> LanguagePictureInputs:
    tokenizer = read_tokenizer(parts)
    starter = StarterConfig.from_pretrained(shipped_directory(), local_files_only=True)
    pictures = ItemPictures(ImageSize(starter.screen_width, starter.screen_height))
    chat = chat_format(parts.directory, tokenizer, MARKS)
    answers = answer_tokens(parts, tokenizer)
    beyond = int(parts.config.get_text_config().vocab_size)
    return LanguagePictureInputs(chat, answers, pictures, beyond, None)
