"""Collectors and learner go on at the same time, and neither waits for the other.

Collectors play without end in processes of their own; what holds them back is staleness alone, and
a learner so far behind that too much waits for it.
"""

from __future__ import annotations

from distrl.engine.arrival_queue import ArrivalQueue
from distrl.engine.collection import pace_of
from distrl.engine.collector_crew import CollectorCrew
from distrl.episodes.collector_report import CollectorReport
from distrl.learning.learner import Learner


class AsynchronousCollection:
    """Implements `Collection` by a crew that never pauses."""

    def __init__(self, crew: CollectorCrew, arrivals: ArrivalQueue) -> None:
        self._crew = crew
        self._arrivals = arrivals

    def start(self) -> None:
        self._crew.start()

    def pace(self, learner: Learner) -> None:
        self._crew.check()
        self._crew.pace(pace_of(learner), len(self._arrivals))

    def wait(self, seconds: float) -> bool:
        self._arrivals.wait(seconds)
        self._crew.check()
        return True

    def stop(self, finish_within: float) -> None:
        self._crew.stop(finish_within)

    def reports(self) -> list[CollectorReport]:
        return self._crew.reports()

    def device_seconds(self) -> tuple[float, float]:
        return self._crew.use.seconds(self._crew.reports())

    def states(self) -> dict[int, str]:
        return self._crew.supervision.states()
