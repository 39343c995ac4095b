"""Synchronous rounds as in DigiRL's multi-machine loop: all collect, wait for the slowest, train.

In a round every device plays the same number of tasks with the same weights. No collector begins
anything new until the last has finished; then the learner trains on what came and publishes; then
the next round begins. It is a baseline: it has all the waits that asynchronous collection avoids.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from distrl.engine.ingest.delivery import ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.messages import Pace
from distrl.engine.run.collection import AsynchronousCollection, Collectors
from distrl.engine.supervision.collector_registry import CollectorRegistry
from distrl.learning.learner import Learner


class Rounds:
    """How many tasks each collector still owes in the current round. Any thread may call."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._round = -1
        self._owed: dict[int, int] = {}

    def begin(self, tasks: Mapping[int, int]) -> None:
        """Begin a round: have each of these collectors play that many tasks."""
        with self._lock:
            self._round += 1
            self._owed = dict(tasks)

    def owed(self, number: int) -> tuple[int, int]:
        """The current round, and the tasks that this collector has yet to play in it."""
        with self._lock:
            return self._round, self._owed.get(number, 0)

    def stored(self, number: int) -> None:
        """Count one task as played, but leave at least one owed: only `played` ends a round."""
        with self._lock:
            if self._owed.get(number):
                self._owed[number] = max(1, self._owed[number] - 1)

    def played(self, number: int) -> None:
        """Record that the collector has played all tasks of the round."""
        with self._lock:
            self._owed[number] = 0
        self._wake()

    def is_over(self, numbers: Iterable[int]) -> bool:
        """Return whether these collectors have played all their tasks of the round."""
        with self._lock:
            return not any(self._owed.get(number, 0) for number in numbers)


class SynchronousCollection(AsynchronousCollection):
    """Implements `Collection` round by round, over the same thread and transport."""

    def __init__(
        self,
        registry: CollectorRegistry,
        collectors: Collectors,
        receiver: TrajectoryReceiver,
        arrivals: ArrivalQueue,
        rounds: Rounds,
        tasks_per_round: Sequence[int],  # of each collector, by number
    ) -> None:
        super().__init__(registry, collectors, receiver, arrivals)
        self._rounds = rounds
        self._tasks_per_round = tasks_per_round
        self._playing = False

    def pace(self, learner: Learner) -> None:
        """Let every episode start: all of a round use the weights published before it."""
        self.set_pace(Pace(learner.version, free=True))

    def wait(self, seconds: float) -> bool:
        """Begin or continue a round for at most `seconds`; return whether it is over."""
        if not self._playing:
            numbers = self._registry.numbers()
            self._rounds.begin({number: self._tasks_per_round[number] for number in numbers})
            self._playing = True
        if not self._round_is_over:
            self._arrivals.rest(seconds)
        self.check()
        self._playing = not self._round_is_over
        return not self._playing

    @property
    def _round_is_over(self) -> bool:
        """Whether all tasks were played and have their verdicts."""
        return self._rounds.is_over(self._registry.numbers()) and not self._receiver.unjudged
