"""Trajectories on their way from the store to the learner, in the order in which they were stored.

The learner takes them off as its `Arrivals`; `taken` is the place in the store behind the last that
it took, which is all that a checkpoint needs to know about them: what is stored behind that place
comes again after a restart. One thread puts, another takes.
"""

from __future__ import annotations

import threading
from collections import deque

from distrl.records import Trajectory
from distrl.replay.store.trajectory_reader import BEGINNING, Position, StoredTrajectory


class ArrivalQueue:
    """First come, first served."""

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
        """Until something is there or somebody calls `wake`; so long at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._woken, seconds)
            self._woken = False

    def rest(self, seconds: float) -> None:
        """Until somebody calls `wake`, whatever arrives; so long at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._woken, seconds)
            self._woken = False

    def wake(self) -> None:
        """Let whoever waits look around: something else has happened."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()
