"""Samples as arrays of fixed size, for shared memory and for GPUs, and the ring buffer of them.

pixels   uint8   [n, 720, 360, 3]
signs    int16   [n, 72, 120]       which sign is where; negative where a word begins
prompt   int16   [n, 256]           padded with 0
answer   int16   [n, 40]            padded with 0
cells    uint8   [n, 324]           where a tap would do the same, one bit a cell
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from distrl.agent.dialects.compact import COLUMNS, COMPACT, ROWS
from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.tokenizers import AnswerTokens
from distrl.agent.prompt import Prompter
from distrl.agent.starter.inputs import MAX_CHARACTERS, PAST_ACTIONS, StarterInputs
from distrl.agent.starter.vocabulary import build_tokenizer
from phonesim.dimensions import HEIGHT, WIDTH
from phonesim.drawing.labelled_canvas import ACROSS, DOWN, STARTS
from phonesim.tasks.demonstrations import Sample

MAX_ANSWER = 40  # tokens

SIZE = ImageSize(WIDTH, HEIGHT)

Arrays = Mapping[str, NDArray[np.generic]]

SHAPES: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {
    "pixels": ((HEIGHT, WIDTH, 3), np.uint8),
    "signs": ((HEIGHT // DOWN, WIDTH // ACROSS), np.int16),
    "prompt": ((MAX_CHARACTERS,), np.int16),
    "answer": ((MAX_ANSWER,), np.int16),
    "cells": ((ROWS * COLUMNS // 8,), np.uint8),
}


def bytes_per_sample() -> int:
    return sum(int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in SHAPES.values())


def views(memory: memoryview | bytearray, count: int) -> dict[str, NDArray[np.generic]]:
    """The arrays of `count` samples, one after the other in a block of memory."""
    arrays: dict[str, NDArray[np.generic]] = {}
    offset = 0
    for name, (shape, kind) in SHAPES.items():
        flat = np.frombuffer(memory, kind, count * int(np.prod(shape)), offset)
        arrays[name] = flat.reshape(count, *shape)
        offset += flat.nbytes
    return arrays


def new_inputs() -> StarterInputs:
    """The inputs of a starter model that is not on disk yet."""
    tokenizer = build_tokenizer()
    end, pad = int(tokenizer.eos_token_id), int(tokenizer.pad_token_id)
    return StarterInputs(AnswerTokens(tokenizer, end, frozenset({end}), pad), SIZE)


class SampleWriter:
    """Writes samples into arrays, tokenised for the starter model."""

    def __init__(self, inputs: StarterInputs) -> None:
        self._inputs = inputs
        self._dialect = COMPACT
        self._prompter = Prompter(self._dialect, PAST_ACTIONS)

    def write(self, sample: Sample, arrays: Arrays, index: int) -> bool:
        """False (and nothing is written) if the answer is longer than MAX_ANSWER tokens."""
        answer = self._inputs.answers.encode(self._dialect.write(sample.action, SIZE))
        if len(answer) > MAX_ANSWER or sample.signs is None:
            return False
        [prompt] = self._inputs.prompt_ids([self._prompter.write(sample.observation).text])
        arrays["pixels"][index] = sample.observation.screen.pixels
        begins = sample.signs & STARTS > 0
        sign = (sample.signs & (STARTS - 1)).astype(np.int16)
        arrays["signs"][index] = np.where(begins, -sign, sign)
        _put(arrays["prompt"][index], prompt)
        _put(arrays["answer"][index], answer)
        arrays["cells"][index] = np.packbits(sample.cells.reshape(-1))
        return True


def _put(row: NDArray[np.generic], values: list[int] | tuple[int, ...]) -> None:
    row[...] = 0
    row[: len(values)] = np.asarray(values, dtype=np.int16)


_TORCH = {np.uint8: torch.uint8, np.int16: torch.int16}


class SampleReservoir:
    """A ring buffer of the newest samples, on the device that trains.

    Samples come in the order of their episodes; drawn at random from many they are nearly
    independent. On a GPU the buffer is in its memory, so that a batch costs no transfer.
    """

    def __init__(self, capacity: int, device: torch.device) -> None:
        self.capacity = capacity
        self.device = device
        self.seen = 0
        self._tensors = {
            name: torch.empty((capacity, *shape), dtype=_TORCH[kind], device=device)
            for name, (shape, kind) in SHAPES.items()
        }

    def __len__(self) -> int:
        return min(self.seen, self.capacity)

    def add(self, arrays: Arrays) -> None:
        """Copy samples into the buffer; their number must divide the capacity."""
        count = len(arrays["answer"])
        at = self.seen % self.capacity
        for name, tensor in self._tensors.items():
            source = torch.from_numpy(cast("NDArray[np.uint8]", arrays[name]))
            tensor[at : at + count].copy_(source, non_blocking=True)
        self.seen += count

    def tensor(self, name: str) -> Tensor:
        """All samples of one of the arrays."""
        return self._tensors[name][: len(self)]

    def draw(self, count: int, generator: torch.Generator) -> dict[str, Tensor]:
        chosen = torch.randint(len(self), (count,), generator=generator, device=self.device)
        return {name: tensor[chosen] for name, tensor in self._tensors.items()}
