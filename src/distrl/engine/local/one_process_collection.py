"""Everything in one process and one thread, in lockstep: to step through, and to repeat exactly.

When the learner needs more, the collector plays some episodes; then the learner goes on. The same
settings give the same weights, bit by bit, as long as the run ends by trajectories or by updates
rather than by the clock.
"""

from __future__ import annotations

import json

from distrl.devices.device import Device
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.trajectory_receiver import TrajectoryReceiver
from distrl.engine.run.collection import Collection
from distrl.episodes.collector import Collector
from distrl.episodes.collector_report import CollectorReport
from distrl.records import Trajectory


class DirectSink:
    """Implements `TrajectorySink` where store and collector are in one process."""

    def __init__(self, receiver: TrajectoryReceiver) -> None:
        self._receiver = receiver

    def put(self, trajectory: Trajectory) -> bool:
        return self._receiver.take(trajectory)


class FreeAdmission:
    """Implements `Admission` where collecting and learning take turns: nothing is ever late."""

    def may_start(self, weight_version: int, in_flight: int) -> bool:
        return True


class OneProcessCollection(Collection):
    """Implements `Collection` by playing whenever the learner waits."""

    def __init__(
        self,
        collector: Collector[Device],
        episode_log: EpisodeLog,
        receiver: TrajectoryReceiver,
        episodes_at_once: int,
    ) -> None:
        self._collector = collector
        self._episode_log = episode_log
        self._receiver = receiver
        self._episodes_at_once = episodes_at_once

    def wait(self, seconds: float) -> bool:
        if not self._receiver.unjudged:
            self._collector.collect(self._episodes_at_once)
            for episode in self._collector.drain_finished():
                self._episode_log.finished(episode)
        return self._receiver.settle(seconds)

    def stop(self, finish_within: float) -> None:
        """No episode is in flight; wait for verdicts that are due."""
        if not self._receiver.settle(finish_within):
            self._receiver.release()
        self._collector.close_devices()

    def reports(self) -> list[CollectorReport]:
        return [self._collector.report()]

    def device_seconds(self) -> tuple[float, float]:
        report = self._collector.report()
        return sum(report.busy.values()), report.seconds * report.slots

    def states(self) -> dict[int, str]:
        return {0: json.dumps(self._collector.state())}
