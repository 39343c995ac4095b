"""A `Collection` whose collectors are Ray actors: they come by themselves (`collector_office`)."""

from __future__ import annotations

from distrl.engine.ingest.arrival_queue import ArrivalQueue
from distrl.engine.ray.weight_broadcast import WeightBroadcast
from distrl.engine.run.collection import pace_of
from distrl.engine.supervision.collector_registry import CollectorRegistry
from distrl.episodes.collector_report import CollectorReport
from distrl.learning.learner import Learner

LAST_SECONDS = 10.0  # after the time that episodes may go on for


class RayCollection:
    """Nobody waits for anybody, as in `AsynchronousCollection`."""

    def __init__(
        self, registry: CollectorRegistry, arrivals: ArrivalQueue, broadcast: WeightBroadcast
    ) -> None:
        self._registry = registry
        self._arrivals = arrivals
        self._broadcast = broadcast

    def start(self) -> None:
        self._broadcast.send_latest()

    def pace(self, learner: Learner) -> None:
        self._registry.check()
        self._registry.pace(pace_of(learner))

    def wait(self, seconds: float) -> bool:
        self._arrivals.wait(seconds)
        self._registry.check()
        return True

    def stop(self, finish_within: float) -> None:
        self._registry.stop(finish_within, LAST_SECONDS)

    def reports(self) -> list[CollectorReport]:
        return self._registry.reports()

    def device_seconds(self) -> tuple[float, float]:
        return self._registry.use.seconds(self._registry.reports())

    def states(self) -> dict[int, str]:
        return self._registry.states()
