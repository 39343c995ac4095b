"""How many turns a GPU has room for, judged by what the activations of turns took so far.

Memory is counted for the whole process, so what one thread takes is known only while no other
computes on the GPU. The thread that prepares the next batch does (`batch_prefetcher`): what was
measured beside it is left out. Of the rest the largest of the last `RECENT` counts, so that one
unusual batch is forgotten.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import torch

SPARE_SHARE = 0.6  # of a GPU's free memory for activations: going backward needs some as well
FIRST_TURNS = 8  # through the model at once on a GPU, until it is known how much memory they take
RECENT = 32  # measurements


class MemoryGauge(Protocol):
    """The memory of one GPU, in bytes."""

    def in_use(self) -> int:
        """By tensors of this process."""
        ...

    def free(self) -> int:
        """For tensors of this process."""
        ...


class CudaMemory:
    """Implements `MemoryGauge`."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def in_use(self) -> int:
        return torch.cuda.memory_allocated(self._device)

    def free(self) -> int:
        free, _ = torch.cuda.mem_get_info(self._device)
        return free + torch.cuda.memory_reserved(self._device) - self.in_use()


class ActivationMemory:
    """Measures activations; without a gauge, on a CPU, there is room for all turns.

    `other_work` counts the begins and the ends of what other threads compute on the GPU: it is odd
    while one of them does.
    """

    def __init__(self, gauge: MemoryGauge | None) -> None:
        self.other_work: Callable[[], int] = lambda: 0
        self._gauge = gauge
        self._turn_bytes: deque[float] = deque(maxlen=RECENT)

    @classmethod
    def of(cls, device: torch.device) -> ActivationMemory:
        return cls(CudaMemory(device) if device.type == "cuda" else None)

    def in_use(self) -> int:
        return 0 if self._gauge is None else self._gauge.in_use()

    @contextmanager
    def measured(self, turns: int) -> Iterator[None]:
        """Count what is in use afterwards and was not before as the activations of these turns."""
        work, before = self.other_work(), self.in_use()
        yield
        used = self.in_use() - before
        if used > 0 and work % 2 == 0 and work == self.other_work():
            self._turn_bytes.append(used / turns)

    def forget(self) -> None:
        """Turns take another amount of memory from now on."""
        self._turn_bytes.clear()

    def max_turns(self, most: int) -> int:
        """That there is room for at once: `most` or fewer, but 1."""
        if self._gauge is None:
            return most
        if not self._turn_bytes:
            return min(most, FIRST_TURNS)
        return max(1, min(most, int(SPARE_SHARE * self._gauge.free() / max(self._turn_bytes))))

    def fits(self, turns: int, done: int, before: int) -> bool:
        """Is there room for the activations of all `turns`, of which `done` have theirs by now?

        `before` was in use when the first of them began.
        """
        if self._gauge is None:
            return True
        each = max(self._turn_bytes, default=(self._gauge.in_use() - before) / done)
        return turns * each < SPARE_SHARE * (self._gauge.free() + done * each)
