"""Where a collector's trajectories go: the learner's store, a connection, a list."""

from __future__ import annotations

from typing import Protocol

from distrl.records import Trajectory


class TrajectorySink(Protocol):
    """`put` returns once a trajectory is durable: False if it is a duplicate.

    It may block, which delays this device alone as long as fewer than `collector.DELIVERING` wait.
    What it raises ends the collector, so retrying is up to the sink. Many threads call it at once.
    """

    def put(self, trajectory: Trajectory) -> bool: ...
