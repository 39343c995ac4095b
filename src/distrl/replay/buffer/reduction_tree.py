"""A fixed-size array that maintains its sum (or its maximum) under updates.

The numbers are the leaves of a tree in which every node has 32 children. Changing a leaf recomputes
the log₃₂ n nodes above it, each from all of its children. No differences are added, so rounding
errors do not accumulate, and the tree depends only on the values of the leaves, not on their
history. Nodes are wide for numpy: one call reduces a whole row, where a binary tree needs five.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

FAN_OUT = 32  # 16 to 64 are equally fast
LARGEST = 1e100  # even the sum of 10^200 such numbers is finite


class ReductionTree:
    """`capacity` numbers from 0 to 1e100, all 0 at first, reduced by a ufunc (add, maximum)."""

    def __init__(self, capacity: int, reduction: np.ufunc) -> None:
        if capacity < 1:
            raise ValueError(f"a tree of {capacity} leaves; it needs at least one")
        self.capacity = capacity
        self._reduce = reduction.reduce
        self._levels: list[Floats] = []  # the root's row first, the leaves last; each [rows, 32]
        nodes = capacity
        while nodes > 1 or not self._levels:
            nodes = -(-nodes // FAN_OUT)
            self._levels.insert(0, np.zeros((nodes, FAN_OUT)))
        self._flat = [level.reshape(-1) for level in self._levels]  # views

    @property
    def root(self) -> float:
        """The sum or maximum of all numbers."""
        return float(self._reduce(self._flat[0]))

    def values(self, indices: ArrayLike) -> Floats:
        return self._flat[-1][np.asarray(indices, dtype=np.int64)]

    def set(self, index: int, value: float) -> None:
        """Change one number."""
        if not (0 <= index < self.capacity and 0.0 <= value <= LARGEST):  # also refuses NaN
            self._refuse(index, value)
        self._flat[-1][index] = value
        for depth in range(len(self._levels) - 1, 0, -1):
            index //= FAN_OUT
            self._flat[depth - 1][index] = self._reduce(self._levels[depth][index])

    def update(self, indices: ArrayLike, values: ArrayLike) -> None:
        """Change many numbers at once; if an index occurs twice, its last value counts."""
        where = np.asarray(indices, dtype=np.int64)
        what = np.asarray(values, dtype=np.float64)
        fits = (where >= 0) & (where < self.capacity) & (what >= 0.0) & (what <= LARGEST)
        if not fits.all():
            worst = int(np.argmin(fits))
            self._refuse(int(where[worst]), float(np.broadcast_to(what, where.shape)[worst]))
        self._flat[-1][where] = what
        for depth in range(len(self._levels) - 1, 0, -1):
            where = where // FAN_OUT
            self._flat[depth - 1][where] = self._reduce(self._levels[depth][where], axis=1)

    def _refuse(self, index: int, value: float) -> None:
        raise ValueError(
            f"number {index} of {self.capacity} cannot become {value!r}; "
            f"numbers lie between 0 and {LARGEST:g}"
        )
