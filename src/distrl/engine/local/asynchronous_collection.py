"""Collectors and learner go on at the same time, and neither waits for the other.

Collectors play without end in processes of their own; what holds them back is staleness alone, and
a learner so far behind that too much waits for it.
"""

from __future__ import annotations

from distrl.engine.ingest.arrival_queue import ArrivalQueue
from distrl.engine.local.collector_pool import CollectorPool
from distrl.engine.run.collection import pace_of
from distrl.episodes.collector_report import CollectorReport
from distrl.learning.learner import Learner


class AsynchronousCollection:
    """Implements `Collection` by a crew that never pauses."""

    def __init__(self, pool: CollectorPool, arrivals: ArrivalQueue) -> None:
        self._pool = pool
        self._arrivals = arrivals

    def start(self) -> None:
        self._pool.start()

    def pace(self, learner: Learner) -> None:
        self._pool.check()
        self._pool.pace(pace_of(learner), len(self._arrivals))

    def wait(self, seconds: float) -> bool:
        self._arrivals.wait(seconds)
        self._pool.check()
        return True

    def stop(self, finish_within: float) -> None:
        self._pool.stop(finish_within)

    def reports(self) -> list[CollectorReport]:
        return self._pool.reports()

    def device_seconds(self) -> tuple[float, float]:
        return self._pool.use.seconds(self._pool.reports())

    def states(self) -> dict[int, str]:
        return self._pool.supervision.states()
