"""Inputs of decoder-only models: text and pictures as one row of tokens.

Image tokens are filled in after the text has been tokenised: each image token in it is repeated as
often as its picture needs. This gives the same tokens as the families' own processors, which first
write out thousands of image tokens as text, and is much faster.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.chat_format import ChatFormat, PictureMarks, chat_format
from distrl.agent.families.model_family import ModelInputs, ModelParts
from distrl.agent.families.pictures import Pictures, PlacedPicture, PreparedPictures
from distrl.agent.families.tokenizers import (
    AnswerTokens,
    answer_tokens,
    check_tokens,
    image_token_id,
    padded,
    read_tokenizer,
)
from distrl.agent.prompt import Prompt
from distrl.records import Screen

NO_PICTURE = ImageSize(0, 0)
KEPT_ROWS = 16384  # prompts whose tokens are cached, about 3 kB each with their text


@dataclass(frozen=True, slots=True)
class DecoderInputs:
    """Implements `InputBuilder`. `token_types` names the tensor that marks image tokens by 1."""

    chat: ChatFormat
    answers: AnswerTokens
    pictures: Pictures
    image_token_id: int
    token_types: str | None

    def seen_size(self, screen: Screen) -> ImageSize:
        return self.pictures.seen_size(screen)

    def build(self, prompts: Sequence[Prompt]) -> ModelInputs:
        return self._assembled(prompts, self.pictures.prepare)

    def _assembled(
        self,
        prompts: Sequence[Prompt],
        prepare: Callable[[Sequence[Sequence[Screen]]], PreparedPictures],
    ) -> ModelInputs:
        screens = [prompt.screens for prompt in prompts]
        of_pictures, flat = prepare(screens) if any(screens) else ({}, [])
        pictures = iter(flat)
        placed = [[next(pictures) for _ in row] for row in screens]
        rows = [self._row(*each) for each in zip(prompts, placed, strict=True)]
        input_ids, attention_mask = padded(rows, self.answers.pad_token_id, "left")
        tensors = {"input_ids": input_ids, "attention_mask": attention_mask, **of_pictures}
        if self.token_types is not None:
            is_image = (input_ids == self.image_token_id) & (attention_mask == 1)
            tensors[self.token_types] = is_image.to(torch.int64)
        sizes = tuple(row[-1].size if row else NO_PICTURE for row in placed)
        return ModelInputs(tensors, sizes)

    def _row(self, prompt: Prompt, placed: Sequence[PlacedPicture]) -> list[int]:
        first, *rest = self.chat.text(prompt).split(self.chat.marks.placeholder)
        text = first + "".join(p.words + after for p, after in zip(placed, rest, strict=True))
        row: list[int] = []
        lengths = iter(run for picture in placed for run in picture.runs)
        for token in prompt_row(self.chat.tokenizer, text):
            row.extend([token] * next(lengths) if token == self.image_token_id else [token])
        return row


class PromptRows:
    """An LRU cache of the tokens of prompts: a learner draws each prompt several times."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, kept: int = KEPT_ROWS) -> None:
        self._tokenizer = tokenizer
        self._kept = kept
        self._rows: OrderedDict[str, NDArray[np.int32]] = OrderedDict()

    def of(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:  # each [tokens]
        known = {text: self._rows.pop(text, None) for text in texts}
        found = {
            text: np.asarray(prompt_row(self._tokenizer, text), np.int32) if row is None else row
            for text, row in known.items()
        }
        self._rows.update(found)
        while len(self._rows) > self._kept:
            self._rows.popitem(last=False)
        return [found[text] for text in texts]


def prompt_row(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    """Tokenise a prompt; add the begin token unless the chat template has written it."""
    begin = tokenizer.bos_token
    begins_itself = bool(begin) and text.startswith(str(begin))
    row: list[int] = tokenizer.encode(text, add_special_tokens=not begins_itself)
    return row


def decoder_inputs(
    parts: ModelParts,
    marks: PictureMarks,
    pictures: Pictures,
    *,
    token_types: str | None = None,
) -> DecoderInputs:
    """Build the `DecoderInputs` of a model; `token_types` is as there."""
    tokenizer = read_tokenizer(parts)
    check_tokens(parts, tokenizer, marks.needed)
    number = image_token_id(parts, tokenizer, marks.image)
    chat = chat_format(parts.directory, tokenizer, marks)
    answers = answer_tokens(parts, tokenizer, marks.turn_end if chat.template else None)
    return DecoderInputs(chat, answers, pictures, number, token_types)
