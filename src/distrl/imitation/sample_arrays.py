"""Samples as arrays of fixed size, for shared memory and GPUs, and a ring buffer of them.

pixels   uint8   [n, 720, 360, 3]
signs    int16   [n, 72, 120]       the sign at each place; negative where an item begins
prompt   int16   [n, 256]           padded with 0
answer   int16   [n, 40]            padded with 0
cells    uint8   [n, 324]           cells where a tap has the same effect, one bit per cell
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
    """Return the arrays of `count` samples as views into one block of memory."""
    arrays: dict[str, NDArray[np.generic]] = {}
    offset = 0
    for name, (shape, kind) in SHAPES.items():
        flat = np.frombuffer(memory, kind, count * int(np.prod(shape)), offset)
        arrays[name] = flat.reshape(count, *shape)
        offset += flat.nbytes
    return arrays


def new_inputs() -> StarterInputs:
    """Return the input builder of a new starter model, without a directory on disk."""
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
        """Write a sample at `index`; return False, without writing, if its answer is longer than
        MAX_ANSWER tokens or it has no signs.
        """
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

    Samples arrive in the order of their episodes; random draws from many of them are nearly
    independent. On a GPU the buffer is in GPU memory, so that a batch needs no transfer.
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
        """Return one of the arrays, for all samples."""
        return self._tensors[name][: len(self)]

    def draw(self, count: int, generator: torch.Generator) -> dict[str, Tensor]:
        chosen = torch.randint(len(self), (count,), generator=generator, device=self.device)
        return {name: tensor[chosen] for name, tensor in self._tensors.items()}
