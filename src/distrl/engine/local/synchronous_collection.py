"""In turns, as DigiRL's multi-machine loop has it: all collect, wait for the slowest, then train.

A round has every device play the same number of tasks with the same weights. Nobody begins anything
until the last has ended; then the learner trains on what came and publishes; then the next round.
It is here to be compared with: every wait that the asynchronous way does without is in it.
"""

from __future__ import annotations

from distrl.engine.ingest.arrival_queue import ArrivalQueue
from distrl.engine.ingest.messages import Pace
from distrl.engine.local.collector_pool import CollectorPool
from distrl.episodes.collector_report import CollectorReport
from distrl.learning.learner import Learner


class SynchronousCollection:
    """Implements `Collection` by a crew that plays round by round."""

    def __init__(self, pool: CollectorPool, arrivals: ArrivalQueue, tasks_per_round: int) -> None:
        self._pool = pool
        self._arrivals = arrivals
        self._tasks_per_round = tasks_per_round  # of each collector
        self._playing = False

    def start(self) -> None:
        self._pool.begin_round(0)
        self._pool.start()

    def pace(self, learner: Learner) -> None:
        """Nobody is late in a round: all play with what was published before it."""
        self._pool.check()
        self._pool.pace(Pace(learner.version, free=True), len(self._arrivals))

    def wait(self, seconds: float) -> bool:
        """Play a round, so many seconds of it; True when it is over."""
        if not self._playing:
            self._pool.begin_round(self._tasks_per_round)
            self._playing = True
        if not self._round_is_over:
            self._arrivals.rest(seconds)
        self._pool.check()
        self._playing = not self._round_is_over
        return not self._playing

    @property
    def _round_is_over(self) -> bool:
        """All have played, and what was played has its verdict."""
        return self._pool.round_is_over and not self._pool.unjudged

    def stop(self, finish_within: float) -> None:
        self._pool.stop(finish_within)

    def reports(self) -> list[CollectorReport]:
        return self._pool.reports()

    def device_seconds(self) -> tuple[float, float]:
        return self._pool.use.seconds(self._pool.reports())

    def states(self) -> dict[int, str]:
        return self._pool.supervision.states()
