"""The replay buffer of the paper's released code, rebuilt with its behaviour and its costs.

Written anew for `make bench-replay` only. It is a ring of steps in columns, with image features
stored twice: for the screen and for the next screen. With DPER on, a binary sum-tree sits beside
it:

- windows of three steps are drawn uniformly; the tree is never used for draws;
- a trajectory's leaf in the tree is found by a linear search, on every eviction and for every
  trajectory of every refresh, and a refresh goes over all trajectories;
- the refresh searches for an end that is one less than the stored one, so it finds nothing and
  appends the trajectory once more; the window never reaches the rewarded last step.

Two simplifications favour it: features of 8 numbers instead of 2 816, and no model behind the
priorities.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

FEATURES = 8
WINDOW = 3
COLUMNS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "observation": (object, ()),
    "next_observation": (object, ()),
    "action": (object, ()),
    "image_features": (np.float32, (FEATURES,)),
    "next_image_features": (np.float32, (FEATURES,)),
    "reward": (np.float64, ()),
    "mc_return": (np.float64, ()),
    "penalty": (np.float64, ()),
    "log_prob": (np.float32, ()),
    "done": (np.bool_, ()),
}


class OriginalReplayBuffer:
    """A ring of steps with priorities that no draw uses."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.inserted = 0
        self.starts = [0]  # first steps of episodes, oldest first; the last is still running
        self.columns = {
            name: np.zeros((capacity, *shape), dtype) for name, (dtype, shape) in COLUMNS.items()
        }
        self.tree = np.zeros(2 * capacity - 1)
        self.spans = np.full((capacity, 2), -1)  # first step and end of each leaf's trajectory
        self.next_leaf = 0

    def insert_step(self, step: dict[str, Any]) -> None:
        place = self.inserted % self.capacity
        done = self.columns["done"]
        if self.inserted >= self.capacity and done[place] and len(self.starts) > 1:
            leaf = self._find_leaf(self.starts[0], self.starts[1] - 1)
            if leaf is not None:
                self._set_priority(leaf, 0.0)
            self.starts.pop(0)
        for name, column in self.columns.items():
            column[place] = step[name]
        self.inserted += 1
        if place > 0 and done[place - 1]:
            self.starts.append(place)
        if step["done"]:
            self._append_priority(1.0, self.starts[-1], self.inserted % self.capacity)

    def sample_window(self) -> dict[str, np.ndarray]:
        """Draw three consecutive steps of a uniformly drawn episode that is long enough."""
        while True:
            episode = random.randint(0, len(self.starts) - 2)
            first, last = self.starts[episode], self.starts[episode + 1] - 1
            if last < first:
                last = self.capacity - 1
            if last - first >= WINDOW:
                break
        start = random.randint(first, last - WINDOW)
        window = np.arange(start, start + WINDOW)
        return {name: column[window] for name, column in self.columns.items()}

    def refresh_priorities(self, episodes: int) -> None:
        """Refresh the first `episodes` episodes; the original always refreshes all of them."""
        for first, after in zip(
            self.starts[:episodes], self.starts[1 : episodes + 1], strict=False
        ):
            last = after - 1
            if last <= first:
                continue
            steps = {name: column[first:last] for name, column in self.columns.items()}
            errors = np.abs(steps["reward"] - steps["mc_return"])
            priority = float(50.0 * errors.mean() + np.exp(steps["log_prob"]).mean())
            leaf = self._find_leaf(first, last)
            if leaf is None:
                self._append_priority(priority, first, last)
            else:
                self._set_priority(leaf, priority)

    def _find_leaf(self, first: int, last: int) -> int | None:
        found = np.flatnonzero((self.spans[:, 0] == first) & (self.spans[:, 1] == last))
        return int(found[0]) if len(found) else None

    def _append_priority(self, priority: float, first: int, end: int) -> None:
        self.spans[self.next_leaf] = first, end
        self._set_priority(self.next_leaf, priority)
        self.next_leaf = (self.next_leaf + 1) % self.capacity

    def _set_priority(self, leaf: int, priority: float) -> None:
        node = leaf + self.capacity - 1
        change = priority - self.tree[node]
        self.tree[node] = priority
        while node:
            node = (node - 1) // 2
            self.tree[node] += change
