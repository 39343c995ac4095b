"""Inputs of Auto-UI: text for T5's encoder, and screens of one size beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.auto_ui_model import register_auto_ui
from distrl.agent.families.model_family import ModelFamily, ModelInputs, ModelParts
from distrl.agent.families.pictures import OneSize, one_size
from distrl.agent.families.tokenizers import AnswerTokens, answer_tokens, padded, read_tokenizer
from distrl.agent.prompt import Prompt
from distrl.records import Screen


@dataclass(frozen=True, slots=True)
class AutoUiInputs:
    """Implements `InputBuilder`. Words are padded on the right: an encoder reads them all."""

    answers: AnswerTokens
    pixels: OneSize

    def seen_size(self, screen: Screen) -> ImageSize:
        return self.pixels.size

    def build(self, prompts: Sequence[Prompt]) -> ModelInputs:
        rows = [self._row(prompt) for prompt in prompts]
        input_ids, attention_mask = padded(rows, self.answers.pad_token_id, "right")
        tensors = {"input_ids": input_ids, "attention_mask": attention_mask}
        if any(prompt.screens for prompt in prompts):
            tensors["pixel_values"], tensors["screen_mask"] = self._screens(prompts)
        return ModelInputs(tensors, (self.pixels.size,) * len(prompts))

    def _row(self, prompt: Prompt) -> list[int]:
        text = f"{prompt.system}\n{prompt.text}" if prompt.system else prompt.text
        ids = self.answers.tokenizer.encode(
            text, add_special_tokens=False, split_special_tokens=True
        )
        return [*ids, self.answers.end_token_id]  # T5 was trained with an end

    def _screens(self, prompts: Sequence[Prompt]) -> tuple[Tensor, Tensor]:
        prepared = self.pixels.of([screen for prompt in prompts for screen in prompt.screens])
        most = max(len(prompt.screens) for prompt in prompts)
        mask = torch.zeros(len(prompts), most, dtype=torch.int64)
        for number, prompt in enumerate(prompts):
            mask[number, : len(prompt.screens)] = 1
        pixels = prepared.new_zeros(len(prompts), most, *prepared.shape[1:])
        pixels[mask == 1] = prepared
        return pixels, mask


def auto_ui_inputs(parts: ModelParts) -> AutoUiInputs:
    return AutoUiInputs(answer_tokens(parts, read_tokenizer(parts)), one_size(parts))


AUTO_UI = ModelFamily(
    "Auto-UI (T5 with image features)",
    ("auto_ui",),
    "aitw",
    r"(encoder\.text_model|decoder)\..*\.(q|k|v|o)",
    auto_ui_inputs,
    register_auto_ui,
)
