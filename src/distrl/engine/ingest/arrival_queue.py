"""The queue of trajectories between the store and the learner, in the order of storing.

The learner reads it as its `Arrivals`; `taken` is the store's position of the last one that it
took, which is all that a checkpoint needs: what is stored after it comes again after a restart. One
thread puts, another takes.
"""

from __future__ import annotations

import threading
from collections import deque

from distrl.records import Trajectory
from distrl.replay.store.trajectory_reader import BEGINNING, Position, StoredTrajectory


class ArrivalQueue:
    """First in, first out."""

    def __init__(self, taken: Position = BEGINNING) -> None:
        self.taken = taken
        self._waiting: deque[StoredTrajectory] = deque()
        self._changed = threading.Condition()
        self._woken = False

    def put(self, stored: StoredTrajectory) -> None:
        with self._changed:
            self._waiting.append(stored)
            self._changed.notify_all()

    def __len__(self) -> int:
        return len(self._waiting)

    def popleft(self) -> Trajectory:
        with self._changed:
            stored = self._waiting.popleft()
            self.taken = stored.position
            return stored.trajectory

    def wait(self, seconds: float) -> None:
        """Block until something is there or `wake` is called, for `seconds` at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._woken, seconds)
            self._woken = False

    def rest(self, seconds: float) -> None:
        """Block until `wake` is called, whatever arrives, for `seconds` at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._woken, seconds)
            self._woken = False

    def wake(self) -> None:
        """End a `wait` or `rest`: something else has happened."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()
