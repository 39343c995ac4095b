"""Collection in the learner's own process and thread, in lockstep, to debug and to repeat exactly.

When the learner needs more trajectories, the collectors (one per environment) play some episodes,
one collector after the other; then the learner goes on. The same settings give the same weights,
bit for bit, as long as the run ends by trajectories or by updates rather than by the clock.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
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

    collectors: Sequence[Collector[Device]]  # by number
    episode_log: EpisodeLog
    receiver: TrajectoryReceiver
    episodes_at_once: Sequence[int]  # of each collector

    def wait(self, seconds: float) -> bool:
        if not self.receiver.unjudged:
            for collector, at_once in zip(self.collectors, self.episodes_at_once, strict=True):
                room = self.receiver.room
                collector.collect(at_once if room is None else min(at_once, room))
                for episode in collector.drain_finished():
                    self.episode_log.finished(episode)
        return self.receiver.settle(seconds)

    def stop(self, finish_within: float) -> None:
        """Wait for outstanding verdicts, then close the devices. No episode is in flight."""
        if not self.receiver.settle(finish_within):
            self.receiver.release()
        for each in self.collectors:
            each.close_devices()

    def reports(self) -> list[CollectorReport]:
        return [each.report() for each in self.collectors]

    def phone_seconds(self) -> dict[str, float]:
        total: Counter[str] = Counter()
        for report in self.reports():
            total.update(report.stages)
        return dict(total)

    def states(self) -> dict[int, str]:
        return {n: json.dumps(each.state()) for n, each in enumerate(self.collectors)}
