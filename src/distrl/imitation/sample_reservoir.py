"""The last few thousand lessons, on the device that trains, to draw random batches from.

Lessons come in the order of their episodes; drawn at random from a large reservoir they are nearly
independent. On a GPU the whole reservoir lies in its memory, so that a batch costs no transfer.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from distrl.imitation.sample_arrays import SHAPES, Arrays

_TORCH = {np.uint8: torch.uint8, np.int16: torch.int16}


class SampleReservoir:
    """A ring of lessons."""

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
        """Take copies of some lessons; their number must divide the capacity."""
        count = len(arrays["answer"])
        at = self.seen % self.capacity
        for name, tensor in self._tensors.items():
            source = torch.from_numpy(cast("NDArray[np.uint8]", arrays[name]))
            tensor[at : at + count].copy_(source, non_blocking=True)
        self.seen += count

    def tensor(self, name: str) -> Tensor:
        """All that is there of one of the arrays."""
        return self._tensors[name][: len(self)]

    def draw(self, count: int, generator: torch.Generator) -> dict[str, Tensor]:
        chosen = torch.randint(len(self), (count,), generator=generator, device=self.device)
        return {name: tensor[chosen] for name, tensor in self._tensors.items()}
