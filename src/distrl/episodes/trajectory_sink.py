"""The receiver of a collector's trajectories: the learner's store, a connection, or a list."""

from __future__ import annotations

from typing import Protocol

from distrl.records import Trajectory


class TrajectorySink(Protocol):
    """`put` returns when a trajectory is durable; it returns False for a duplicate.

    It may block; that delays only this device, as long as fewer than `collector.DELIVERING` wait.
    An exception ends the collector, so the sink must do its own retries. It must be thread-safe.
    """

    def put(self, trajectory: Trajectory) -> bool: ...
