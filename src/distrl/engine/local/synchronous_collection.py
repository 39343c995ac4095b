"""In turns, as DigiRL's multi-machine loop has it: all collect, wait for the slowest, then train.

In a round every device plays the same number of tasks with the same weights. No collector begins
anything until the last has finished; then the learner trains on what came and publishes; then the
next round begins. It exists to be compared with: it has all the waits that asynchrony avoids.
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
        """Have each of these collectors play that many tasks."""
        with self._lock:
            self._round += 1
            self._owed = dict(tasks)

    def owed(self, number: int) -> tuple[int, int]:
        """The current round, and the tasks that this collector has yet to play in it."""
        with self._lock:
            return self._round, self._owed.get(number, 0)

    def stored(self, number: int) -> None:
        """A task was played; that all were, only the collector itself can say."""
        with self._lock:
            if self._owed.get(number):
                self._owed[number] = max(1, self._owed[number] - 1)

    def played(self, number: int) -> None:
        """The collector has played all tasks of the round."""
        with self._lock:
            self._owed[number] = 0
        self._wake()

    def is_over(self, numbers: Iterable[int]) -> bool:
        """Has each of these collectors played all that it was to play?"""
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
        """Nothing is late in a round: all play with what was published before it."""
        self.set_pace(Pace(learner.version, free=True))

    def wait(self, seconds: float) -> bool:
        """Play a round, `seconds` of it at most; True when it is over."""
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
        """All have played, and what was played has its verdict."""
        return self._rounds.is_over(self._registry.numbers()) and not self._receiver.unjudged
