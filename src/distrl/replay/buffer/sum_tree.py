"""Draws places in proportion to their numbers, in O(log n).

A mark between 0 and the total is followed down from the root: at each node to the first child whose
running sum passes the mark. That child's own number is above zero, whatever rounding has done to
the mark on its way (it is held strictly below the sum of the row), so a place whose number is 0, an
empty one, is never drawn.
"""

from __future__ import annotations

import numpy as np

from distrl.errors import UsageError
from distrl.replay.buffer.reduction_tree import FAN_OUT, Floats, Indices, ReductionTree


class SumTree(ReductionTree):
    """`capacity` numbers; draws index i with probability number[i] / total."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity, np.add)

    @property
    def total(self) -> float:
        return self.root

    def sample(self, n: int, rng: np.random.Generator, *, stratified: bool = True) -> Indices:
        """Draw n places, with replacement.

        Stratified draws take one mark from each n-th of the total: the same expected counts as
        plain draws, with less noise in a batch. The places come in the order of the strata.
        """
        total = self.total
        if total <= 0.0:
            raise UsageError(f"{n} draws from a tree whose numbers are all 0; fill it first")
        marks = rng.random(n)
        if stratified:
            marks = (np.arange(n) + marks) / n
        return self.find(marks * total)

    def find(self, marks: Floats) -> Indices:
        """The place at each mark along the running sum of all numbers."""
        rows = np.arange(len(marks))
        node = np.zeros(len(marks), dtype=np.int64)
        sums = np.zeros((len(marks), FAN_OUT + 1))  # before each child; the whole row at the end
        through = sums[:, 1:]  # with each child
        for level in self._levels:
            np.cumsum(level.take(node, axis=0), axis=1, out=through)
            marks = np.minimum(marks, np.nextafter(sums[:, -1], 0.0))
            child = (through > marks[:, None]).argmax(axis=1)  # the first that passes the mark
            marks = marks - sums[rows, child]
            node = node * FAN_OUT + child
        return node
