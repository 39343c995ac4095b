"""Collection alone: the model as it is plays until a limit is reached, and nobody learns."""

from __future__ import annotations

from dataclasses import dataclass

from distrl.config.training_config import TrainingConfig
from distrl.engine.ingest.arrival_queue import ArrivalQueue
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Pace
from distrl.engine.local.collector_pool import CollectorPool
from distrl.engine.run.run_monitor import RunMonitor
from distrl.engine.run.stop_request import Spent, StopRequest, progress
from distrl.learning.learner_report import LearnerStatus

WAIT_SECONDS = 0.25
FINISH_SECONDS = 30.0  # that episodes may go on for at the end: there is no learner that waits
NOBODY = LearnerStatus(0, 0, 0.0, 0.0, {}, {})  # a learner that does nothing


@dataclass(frozen=True, slots=True)
class CollectionRun:
    """Everything that a collection consists of, put together by `local_engine`."""

    config: TrainingConfig
    pool: CollectorPool
    arrivals: ArrivalQueue
    episode_log: EpisodeLog
    monitor: RunMonitor
    stop: StopRequest

    def collect(self) -> int:
        """How many trajectories there are in the end; a stop ends it like a limit."""
        self.pool.pace(Pace(version=0, free=True), waiting=0)
        self.pool.start()
        self.monitor.begin("collecting", NOBODY, 0.0)
        while self._progress() < 1.0 and not self.stop.asked:
            self.arrivals.wait(WAIT_SECONDS)
            while len(self.arrivals):  # they are in the store, which is all that is wanted
                self.arrivals.popleft()
            self.pool.check()
            self.monitor.look(NOBODY, self._progress(), 0)
        self.pool.stop(0.0 if self.stop.asked else FINISH_SECONDS)
        return self.episode_log.trajectories

    def _progress(self) -> float:
        spent = Spent(self.monitor.seconds, self.episode_log.trajectories, 0)
        return progress(self.config.run, spent)
