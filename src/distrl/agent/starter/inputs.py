"""From a prompt to the starter model's inputs: characters as tokens, pixels as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.model_family import ModelInputs, ModelParts
from distrl.agent.families.tokenizers import (
    AnswerTokens,
    answer_tokens,
    check_tokens,
    read_tokenizer,
)
from distrl.agent.prompt import Prompt
from distrl.agent.starter.configuration import StarterConfig
from distrl.errors import UsageError
from distrl.records import Screen

PAST_ACTIONS = 6  # in a prompt, as in pretraining
MAX_CHARACTERS = 256  # of a prompt; a longer one loses its end


@dataclass(frozen=True, slots=True)
class StarterInputs:
    """Implements `InputBuilder`. It takes screens of one size only, and does not resize them."""

    answers: AnswerTokens
    size: ImageSize

    def seen_size(self, screen: Screen) -> ImageSize:
        return self.size

    def build(self, prompts: Sequence[Prompt]) -> ModelInputs:
        ids = [self.prompt_ids(prompt.text) for prompt in prompts]
        padded = torch.full((len(ids), max(1, *map(len, ids))), self.answers.pad_token_id)
        for row, each in enumerate(ids):
            padded[row, : len(each)] = torch.tensor(each, dtype=torch.long)
        tensors = {
            "input_ids": padded,
            "attention_mask": (padded != self.answers.pad_token_id).long(),
            "pixel_values": torch.stack([self._pixels(prompt) for prompt in prompts]),
        }
        return ModelInputs(tensors, (self.size,) * len(prompts))

    def prompt_ids(self, text: str) -> list[int]:
        ids: list[int] = self.answers.tokenizer.encode(
            text, add_special_tokens=False, split_special_tokens=True
        )
        return ids[:MAX_CHARACTERS]

    def _pixels(self, prompt: Prompt) -> Tensor:  # [height, width, 3]
        """Of the current screen; a prompt without one, about an instruction alone, is all black."""
        if not prompt.screens:
            return torch.zeros(self.size.height, self.size.width, 3, dtype=torch.uint8)
        screen = prompt.screens[-1]
        if (screen.width, screen.height) != self.size:
            raise UsageError(
                f"the starter model reads screens of {self.size.width} × {self.size.height} "
                f"pixels, and this one has {screen.width} × {screen.height}; it was trained on the "
                "simulated phone: take a model of another family for real phones"
            )
        return torch.from_numpy(np.array(screen.pixels))  # a copy: torch wants one it could write


def starter_inputs(parts: ModelParts) -> StarterInputs:
    config: StarterConfig = parts.config
    tokenizer = read_tokenizer(parts)
    check_tokens(parts, tokenizer, ("<tap>", "<type>", "<0,0>", "<35,71>"))
    size = ImageSize(config.screen_width, config.screen_height)
    return StarterInputs(answer_tokens(parts, tokenizer), size)
