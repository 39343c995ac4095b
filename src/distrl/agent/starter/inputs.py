"""From a prompt to the starter model's inputs: characters as tokens, pixels as they are.

A screen of another size than the model was trained on is shown to it between bars (`letterbox`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

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
from distrl.agent.letterbox import Letterbox, fitted
from distrl.agent.prompt import Prompt, full_size
from distrl.agent.starter.configuration import StarterConfig
from distrl.records import Pixels, Screen

PAST_ACTIONS = 6  # in a prompt, as in pretraining
FEW = 16  # screens that are copied sooner than threads start
MAX_CHARACTERS = 256  # of a prompt; a longer one loses its end
ADVICE = "take a model of another family"


@dataclass(frozen=True, slots=True)
class StarterInputs:
    """Implements `InputBuilder` and `Letterboxes`. Screens of `size` are not resized."""

    answers: AnswerTokens
    size: ImageSize

    def seen_size(self, screen: Screen) -> ImageSize:
        return self.size

    def letterbox(self, screen: Screen) -> Letterbox | None:
        return fitted(full_size(screen), self.size, "the starter model", ADVICE)

    def build(self, prompts: Sequence[Prompt]) -> ModelInputs:
        ids = self.prompt_ids([prompt.text for prompt in prompts])
        padded = torch.full((len(ids), max(1, *map(len, ids))), self.answers.pad_token_id)
        for row, each in enumerate(ids):
            padded[row, : len(each)] = torch.tensor(each, dtype=torch.long)
        tensors = {
            "input_ids": padded,
            "attention_mask": (padded != self.answers.pad_token_id).long(),
            "pixel_values": self._pixels(prompts),
        }
        return ModelInputs(tensors, (self.size,) * len(prompts))

    def prompt_ids(self, texts: Sequence[str]) -> list[list[int]]:
        ids: list[list[int]] = self.answers.tokenizer(
            list(texts), add_special_tokens=False, split_special_tokens=True
        )["input_ids"]
        return [each[:MAX_CHARACTERS] for each in ids]

    def _pixels(self, prompts: Sequence[Prompt]) -> Tensor:  # [n, height, width, 3]
        """Of the current screens; a prompt without one, about an instruction alone, is all black.

        Unpacked and copied once, by as many threads as torch has, to where a GPU fetches them.
        """
        shape = (len(prompts), self.size.height, self.size.width, 3)
        on_gpu: bool = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        pixels = torch.empty(shape, dtype=torch.uint8, pin_memory=on_gpu)
        copies = pixels.numpy()

        def copy(places: range) -> None:
            for place in places:
                screens = prompts[place].screens
                self._draw(screens[-1] if screens else None, copies[place])

        threads = torch.get_num_threads() if len(prompts) >= FEW else 1
        shares = [range(first, len(prompts), threads) for first in range(threads)]
        if threads == 1:
            copy(shares[0])
        else:
            deque(_pool(threads).map(copy, shares), maxlen=0)  # raises what a copy raised
        return pixels

    def _draw(self, screen: Screen | None, into: Pixels) -> None:
        if screen is None:
            into[...] = 0
        elif (letterbox := self.letterbox(screen)) is None:
            into[...] = screen.pixels
        else:
            letterbox.draw(screen.pixels, into)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "pixels")


def starter_inputs(parts: ModelParts) -> StarterInputs:
    config: StarterConfig = parts.config
    tokenizer = read_tokenizer(parts)
    check_tokens(parts, tokenizer, ("<tap>", "<type>", "<0,0>", "<35,71>"))
    size = ImageSize(config.screen_width, config.screen_height)
    return StarterInputs(answer_tokens(parts, tokenizer), size)
