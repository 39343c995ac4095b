"""Indices of the replay buffer: slots by task, and slots of branches by their attempt."""

from __future__ import annotations

from collections import deque

import numpy as np


class AttemptsByTask:
    """Slots by the id of their task, oldest first.

    Attempts are added in the order of their slots and the oldest are evicted first, so each task
    has a queue.
    """

    def __init__(self) -> None:
        self._slots: dict[str, deque[int]] = {}

    def add(self, task: str, slot: int) -> None:
        self._slots.setdefault(task, deque()).append(slot)

    def of(self, task: str) -> deque[int]:
        """Return the slots of all attempts at the task."""
        return self._slots[task]

    def drop_oldest(self, task: str) -> None:
        """Remove the oldest attempt at the task, which the buffer has evicted."""
        slots = self._slots[task]
        slots.popleft()
        if not slots:
            del self._slots[task]

    def beside(self, task: str, slot: int, most: int, rng: np.random.Generator) -> list[int]:
        """Sample up to `most` other attempts at the task, uniformly and without replacement."""
        others = [each for each in self._slots[task] if each != slot]
        chosen = rng.permutation(len(others))[:most]
        return [others[place] for place in chosen.tolist()]


class ForksByAttempt:
    """Slots of the branches of an attempt, by the id of the attempt."""

    def __init__(self) -> None:
        self._slots: dict[str, list[int]] = {}

    def add(self, attempt_id: str, slot: int) -> None:
        self._slots.setdefault(attempt_id, []).append(slot)

    def drop(self, attempt_id: str, slot: int) -> None:
        slots = self._slots[attempt_id]
        slots.remove(slot)
        if not slots:
            del self._slots[attempt_id]

    def of(self, attempt_id: str) -> list[int]:
        return self._slots.get(attempt_id, [])
