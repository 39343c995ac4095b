"""Collection alone: the model as it is plays until a limit is reached, and nobody learns."""

from __future__ import annotations

from dataclasses import dataclass

from distrl.config.training_config import TrainingConfig
from distrl.engine.arrival_queue import ArrivalQueue
from distrl.engine.collector_crew import CollectorCrew
from distrl.engine.episode_ledger import EpisodeLedger
from distrl.engine.messages import Pace
from distrl.engine.run_journal import RunJournal
from distrl.engine.run_limits import Spent, progress
from distrl.engine.stop_request import StopRequest
from distrl.learning.learner_report import Standing

WAIT_SECONDS = 0.25
FINISH_SECONDS = 30.0  # that episodes may go on for at the end: there is no learner that waits
NOBODY = Standing(0, 0, 0.0, 0.0, {}, {})  # a learner that does nothing


@dataclass(frozen=True, slots=True)
class CollectionRun:
    """Everything that a collection consists of, put together by `local_engine`."""

    config: TrainingConfig
    crew: CollectorCrew
    arrivals: ArrivalQueue
    ledger: EpisodeLedger
    journal: RunJournal
    stop: StopRequest

    def collect(self) -> int:
        """How many trajectories there are in the end; a stop ends it like a limit."""
        self.crew.pace(Pace(version=0, free=True), waiting=0)
        self.crew.start()
        self.journal.begin("collecting", NOBODY, 0.0)
        while self._progress() < 1.0 and not self.stop.asked:
            self.arrivals.wait(WAIT_SECONDS)
            while len(self.arrivals):  # they are in the store, which is all that is wanted
                self.arrivals.popleft()
            self.crew.check()
            self.journal.look(NOBODY, self._progress(), 0)
        self.crew.stop(0.0 if self.stop.asked else FINISH_SECONDS)
        return self.ledger.trajectories

    def _progress(self) -> float:
        spent = Spent(self.journal.seconds, self.ledger.trajectories, 0)
        return progress(self.config.run, spent)
