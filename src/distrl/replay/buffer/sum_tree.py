"""A sum tree: draws indices in proportion to their numbers, in O(log n).

`find` takes a mark between 0 and the total down from the root: at each node to the first child
whose cumulative sum exceeds the mark. The mark is clamped strictly below the sum of the row, so
despite rounding that child's number is above 0. An empty place, whose number is 0, is never drawn.
"""

from __future__ import annotations

import numpy as np

from distrl.errors import UsageError
from distrl.replay.buffer.reduction_tree import FAN_OUT, Floats, Indices, ReductionTree


class SumTree(ReductionTree):
    """An array of `capacity` numbers that draws index i with probability number[i] / total."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity, np.add)

    @property
    def total(self) -> float:
        return self.root

    def sample(self, n: int, rng: np.random.Generator, *, stratified: bool = True) -> Indices:
        """Draw n indices, with replacement.

        Stratified draws take one mark from each n-th of the total: the expected counts are those
        of plain draws, with a lower variance. The indices are in the order of the strata.
        """
        total = self.total
        if total <= 0.0:
            raise UsageError(f"{n} draws from a tree whose numbers are all 0; fill it first")
        marks = rng.random(n)
        if stratified:
            marks = (np.arange(n) + marks) / n
        return self.find(marks * total)

    def find(self, marks: Floats) -> Indices:
        """Return the index at each mark along the cumulative sum of all numbers."""
        rows = np.arange(len(marks))
        node = np.zeros(len(marks), dtype=np.int64)
        sums = np.zeros((len(marks), FAN_OUT + 1))  # exclusive cumulative sums, then the total
        through = sums[:, 1:]  # inclusive cumulative sums
        for level in self._levels:
            np.cumsum(level.take(node, axis=0), axis=1, out=through)
            marks = np.minimum(marks, np.nextafter(sums[:, -1], 0.0))
            child = (through > marks[:, None]).argmax(axis=1)  # the first that exceeds the mark
            marks = marks - sums[rows, child]
            node = node * FAN_OUT + child
        return node
