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
from distrl.episodes.collector import Collector
from distrl.episodes.collector_report import CollectorReport
from distrl.learning.learner import Learner
from distrl.records import Trajectory


class DirectSink:
    """Implements `TrajectorySink` where store and collector are in one process."""

    def __init__(self, receiver: TrajectoryReceiver) -> None:
        self._receiver = receiver

    def put(self, trajectory: Trajectory) -> bool:
        return self._receiver.take(trajectory)


class FreeAdmission:
    """Implements `Admission` for those who take turns: nothing is ever late."""

    def may_start(self, weight_version: int, in_flight: int) -> bool:
        return True


class OneProcessCollection:
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

    def start(self) -> None:
        """Nothing to start."""

    def pace(self, learner: Learner) -> None:
        """Nobody plays while the learner learns."""

    def wait(self, seconds: float) -> bool:
        if not self._receiver.unjudged:
            self._collector.collect(self._episodes_at_once)
            for episode in self._collector.drain_finished():
                self._episode_log.finished(episode)
        return self._receiver.settle(seconds)

    def stop(self, finish_within: float) -> None:
        """Nothing is under way but verdicts, perhaps."""
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


class NoCollection:
    """Implements `Collection` for a run that learns from a corpus alone."""

    def start(self) -> None:
        """Nothing to start."""

    def pace(self, learner: Learner) -> None:
        """Nobody plays."""

    def wait(self, seconds: float) -> bool:
        return True

    def stop(self, finish_within: float) -> None:
        """Nothing is under way."""

    def reports(self) -> list[CollectorReport]:
        return []

    def device_seconds(self) -> tuple[float, float]:
        return 0.0, 0.0

    def states(self) -> dict[int, str]:
        return {}
