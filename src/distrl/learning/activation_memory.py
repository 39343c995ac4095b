"""Estimates how many turns fit into GPU memory, from the activation memory of earlier turns.

CUDA counts memory for the whole process, so a measurement is valid only while no other thread
computes on the GPU. The thread that prepares the next batch does (`batch_prefetcher`), so
measurements that overlap with its work are discarded. Of the others the largest of the last
`RECENT` counts, so that one unusual batch is forgotten. `GradientStep` uses it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import torch

SPARE_SHARE = 0.6  # of a GPU's free memory for activations: the backward pass needs some as well
FIRST_TURNS = 8  # in a micro-batch on a GPU, until the memory of one turn has been measured
RECENT = 32  # measurements that are kept


class MemoryGauge(Protocol):
    """The memory of one GPU, in bytes."""

    def in_use(self) -> int:
        """Return the bytes that tensors of this process occupy."""
        ...

    def free(self) -> int:
        """Return the bytes that are left for tensors of this process."""
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
    """Measures activations. Without a gauge (on a CPU) any number of turns fits.

    `other_work` returns a counter that other threads increment when they begin and when they end
    work on the GPU, so it is odd while one of them is at work.
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
        """Record the growth of used memory inside the context as the activations of the turns."""
        work, before = self.other_work(), self.in_use()
        yield
        used = self.in_use() - before
        if used > 0 and work % 2 == 0 and work == self.other_work():
            self._turn_bytes.append(used / turns)

    def forget(self) -> None:
        """Discard all measurements, because turns take another amount of memory from now on."""
        self._turn_bytes.clear()

    def max_turns(self, most: int) -> int:
        """Return how many turns fit at once: at least 1 and at most `most`."""
        if self._gauge is None:
            return most
        if not self._turn_bytes:
            return min(most, FIRST_TURNS)
        return max(1, min(most, int(SPARE_SHARE * self._gauge.free() / max(self._turn_bytes))))

    def fits(self, turns: int, done: int, before: int) -> bool:
        """Return whether the activations of all `turns` fit; those of `done` turns exist already.

        `before` is the memory that was in use before the first of them.
        """
        if self._gauge is None:
            return True
        each = max(self._turn_bytes, default=(self._gauge.in_use() - before) / done)
        return turns * each < SPARE_SHARE * (self._gauge.free() + done * each)
