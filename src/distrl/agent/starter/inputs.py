"""Builds the starter model's inputs from prompts: one token per character, and raw pixels.

Screens of another size than the model was trained on are scaled and padded (`letterbox`).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
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
from distrl.agent.starter.inputs_ahead import Expected, InputsAhead
from distrl.records import Pixels, Screen

PAST_ACTIONS = 6  # in a prompt, as in pretraining
FEW = 16  # below this many screens, copying takes less time than starting threads
MAX_CHARACTERS = 256  # of a prompt; longer ones are truncated at the end
ADVICE = "take a model of another family"

Taken = Sequence[Expected | None]  # the prefetched inputs of each prompt, if any


@dataclass(frozen=True, slots=True)
class StarterInputs:
    """Implements `InputBuilder` and `Letterboxes`. Screens of `size` are not resized."""

    answers: AnswerTokens
    size: ImageSize
    _tokenizing: threading.Lock = field(default_factory=threading.Lock, compare=False)
    _ahead: InputsAhead = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ahead", InputsAhead(self._make, self._shape))

    def expect(self, prompt: Prompt) -> None:
        """Start preparing the inputs of a prompt that `build` will soon be given. Thread-safe."""
        self._ahead.expect(prompt)

    def seen_size(self, screen: Screen) -> ImageSize:
        return self.size

    def letterbox(self, screen: Screen) -> Letterbox | None:
        return fitted(full_size(screen), self.size, "the starter model", ADVICE)

    def build(self, prompts: Sequence[Prompt]) -> ModelInputs:
        taken = self._ahead.take(prompts)
        try:
            ids = self._ids(prompts, taken)
            pixels = self._pixels(prompts, taken)
        finally:
            self._ahead.give_back(taken)
        padded = torch.full((len(ids), max(1, *map(len, ids))), self.answers.pad_token_id)
        for row, each in enumerate(ids):
            padded[row, : len(each)] = torch.tensor(each, dtype=torch.long)
        tensors = {
            "input_ids": padded,
            "attention_mask": (padded != self.answers.pad_token_id).long(),
            "pixel_values": pixels,
        }
        return ModelInputs(tensors, (self.size,) * len(prompts))

    def prompt_ids(self, texts: Sequence[str]) -> list[list[int]]:
        with self._tokenizing:  # each call sets options on the shared tokenizer
            ids: list[list[int]] = self.answers.tokenizer(
                list(texts), add_special_tokens=False, split_special_tokens=True
            )["input_ids"]
        return [each[:MAX_CHARACTERS] for each in ids]

    def _ids(self, prompts: Sequence[Prompt], taken: Taken) -> list[list[int]]:
        others = [prompt.text for prompt, known in zip(prompts, taken, strict=True) if not known]
        ids = iter(self.prompt_ids(others) if others else ())
        return [next(ids) if known is None else known.token_ids.result() for known in taken]

    def _pixels(self, prompts: Sequence[Prompt], taken: Taken) -> Tensor:
        """Return the pixels of the current screens [n, height, width, 3]. Call `_ids` first: it
        waits until prefetched screens are drawn.

        Each screen is unpacked and copied once, by up to `torch.get_num_threads()` threads, into
        pinned memory if CUDA is in use.
        """
        on_gpu: bool = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        shape = (len(prompts), *self._shape)
        pixels = torch.empty(shape, dtype=torch.uint8, pin_memory=on_gpu)
        copies = pixels.numpy()

        def copy(places: range) -> None:
            for place in places:
                if (expected := taken[place]) is not None:
                    copies[place] = self._ahead.row(expected)
                else:
                    self._draw(prompts[place], copies[place])

        threads = torch.get_num_threads() if len(prompts) >= FEW else 1
        shares = [range(first, len(prompts), threads) for first in range(threads)]
        if threads == 1:
            copy(shares[0])
        else:
            deque(_pool(threads).map(copy, shares), maxlen=0)  # re-raises errors of the threads
        return pixels

    @property
    def _shape(self) -> tuple[int, int, int]:
        return self.size.height, self.size.width, 3

    def _make(self, prompt: Prompt, into: Pixels) -> list[int]:
        self._draw(prompt, into)
        [ids] = self.prompt_ids([prompt.text])
        return ids

    def _draw(self, prompt: Prompt, into: Pixels) -> None:
        """Draw the prompt's current screen; for a prompt without screens, a black one."""
        screen = prompt.screens[-1] if prompt.screens else None
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
