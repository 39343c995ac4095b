"""Everything in one process and one thread, in lockstep: to step through, and to repeat exactly.

When the learner needs more, the collector plays some episodes; then the learner goes on. The same
settings give the same weights, bit by bit, as long as the run ends by trajectories or by updates
rather than by the clock.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from distrl.devices.device import Device
from distrl.engine.ingest.delivery import TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.run.collection import Collection
from distrl.episodes.collector import Collector
from distrl.episodes.collector_report import CollectorReport


@dataclass
class OneProcessCollection(Collection):
    """Implements `Collection` by playing whenever the learner waits."""

    collector: Collector[Device]
    episode_log: EpisodeLog
    receiver: TrajectoryReceiver
    episodes_at_once: int

    def wait(self, seconds: float) -> bool:
        if not self.receiver.unjudged:
            room = self.receiver.room
            at_once = self.episodes_at_once
            self.collector.collect(at_once if room is None else min(at_once, room))
            for episode in self.collector.drain_finished():
                self.episode_log.finished(episode)
        return self.receiver.settle(seconds)

    def stop(self, finish_within: float) -> None:
        """No episode is in flight; wait for verdicts that are due."""
        if not self.receiver.settle(finish_within):
            self.receiver.release()
        self.collector.close_devices()

    def reports(self) -> list[CollectorReport]:
        return [self.collector.report()]

    def phone_seconds(self) -> dict[str, float]:
        return self.collector.report().stages

    def states(self) -> dict[int, str]:
        return {0: json.dumps(self.collector.state())}
