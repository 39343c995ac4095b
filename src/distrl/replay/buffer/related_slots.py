"""Which slots of the replay belong together: attempts at a task, continuations of an attempt."""

from __future__ import annotations

from collections import deque

import numpy as np


class AttemptsByTask:
    """Slots by the id of the task that was tried there, oldest first.

    Attempts come in the order of their slots and the oldest leave first: each task has a queue.
    """

    def __init__(self) -> None:
        self._slots: dict[str, deque[int]] = {}

    def add(self, task: str, slot: int) -> None:
        self._slots.setdefault(task, deque()).append(slot)

    def of(self, task: str) -> deque[int]:
        """The slots of all attempts at the task."""
        return self._slots[task]

    def drop_oldest(self, task: str) -> None:
        """Its oldest attempt has left the replay."""
        slots = self._slots[task]
        slots.popleft()
        if not slots:
            del self._slots[task]

    def beside(self, task: str, slot: int, most: int, rng: np.random.Generator) -> list[int]:
        """Up to `most` other attempts at the task, each as likely as the others, none twice."""
        others = [each for each in self._slots[task] if each != slot]
        chosen = rng.permutation(len(others))[:most]
        return [others[place] for place in chosen.tolist()]


class ForksByAttempt:
    """Slots of the trajectories that branched off an attempt, by the id of the attempt."""

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
