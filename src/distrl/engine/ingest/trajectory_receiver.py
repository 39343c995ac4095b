"""Where trajectories come in: on the disk first, then to the learner, and only then "received".

- Nothing is acknowledged that is not durable in the store. What the disk does not take is refused,
  and its collector sends it again later.
- Each id is taken once; what is sent again is acknowledged again and changes nothing.
- When too many wait for the learner, or for a judge (`later_verdicts`), acknowledgements wait as
  well, which holds collectors back.

One thread; it never waits for the learner or for a collector.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from distrl.engine.ingest.arrival_queue import ArrivalQueue
from distrl.engine.ingest.deferred_judging import DeferredJudging
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Received, Refused
from distrl.errors import StorageError
from distrl.records import Ending, Trajectory
from distrl.replay.store.trajectory_reader import StoredTrajectory
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.replay.trajectory_encoding import decode_trajectory

MAX_WAITING = 256  # trajectories between store and learner

Reply = Callable[[Received | Refused], None]


class TrajectoryReceiver:
    """Takes in deliveries."""

    def __init__(
        self,
        store: TrajectoryStore,
        arrivals: ArrivalQueue,
        episode_log: EpisodeLog,
        max_waiting: int = MAX_WAITING,
        verdicts: DeferredJudging | None = None,
        max_unjudged: int = MAX_WAITING,
    ) -> None:
        self._store = store
        self._arrivals = arrivals
        self._episode_log = episode_log
        self._max_waiting = max_waiting
        self._verdicts = verdicts
        self._max_unjudged = max_unjudged
        self._held: deque[tuple[Reply, Received]] = deque()

    def deliver(self, encoded: bytes, reply: Reply) -> None:
        """Store a delivery; the sender hears now or, when many wait, later."""
        trajectory = decode_trajectory(encoded)
        try:
            new = self.take(trajectory)
        except StorageError as error:
            self._episode_log.faults["not_stored"] += 1
            reply(Refused(trajectory.id, str(error)))
            return
        self._held.append((reply, Received(trajectory.id, new)))
        self.release()

    def take(self, trajectory: Trajectory) -> bool:
        """Store it and hand it on; False if it was known. Raises where the disk fails."""
        new = self._store.append(trajectory)
        if new:
            self._episode_log.arrived(trajectory)
            if self._verdicts is not None and trajectory.ending is Ending.AWAITING_VERDICT:
                self._verdicts.submit(trajectory)
            else:
                self._arrivals.put(StoredTrajectory(trajectory, self._store.position))
        return new

    def judge_again(self, trajectory: Trajectory) -> None:
        """It was stored before a restart; if it waited for a verdict, it does so again."""
        if self._verdicts is not None and trajectory.ending is Ending.AWAITING_VERDICT:
            self._verdicts.submit(trajectory)

    @property
    def unjudged(self) -> int:
        """How many are stored and wait for their verdict."""
        return 0 if self._verdicts is None else len(self._verdicts)

    def settle(self, seconds: float) -> bool:
        """Wait for verdicts that are on their way, so long at most; True if none is left."""
        return self._verdicts is None or self._verdicts.settle(seconds)

    def release(self, *, all_of_them: bool = False) -> None:
        """Acknowledge what was held back, as far as the learner and the judge have caught up."""
        if self._verdicts is not None:
            self._verdicts.take_off()
        while self._held and (all_of_them or self._has_room()):
            reply, answer = self._held.popleft()
            reply(answer)

    def _has_room(self) -> bool:
        return len(self._arrivals) < self._max_waiting and self.unjudged < self._max_unjudged
