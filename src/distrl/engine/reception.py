"""Where trajectories come in: on the disk first, then to the learner, and only then "received".

- Nothing is acknowledged that is not durable in the store. What the disk does not take is refused,
  and its collector sends it again later.
- Each id is taken once; what is sent again is acknowledged again and changes nothing.
- When too many wait for the learner, acknowledgements wait as well, which holds collectors back.

One thread; it never waits for the learner or for a collector.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from distrl.engine.arrival_queue import ArrivalQueue
from distrl.engine.episode_ledger import EpisodeLedger
from distrl.engine.messages import Received, Refused
from distrl.errors import StorageError
from distrl.records import Trajectory
from distrl.replay.trajectory_encoding import decode_trajectory
from distrl.replay.trajectory_reader import StoredTrajectory
from distrl.replay.trajectory_store import TrajectoryStore

MOST_WAITING = 256  # trajectories between store and learner

Reply = Callable[[Received | Refused], None]


class Reception:
    """Takes in deliveries."""

    def __init__(
        self,
        store: TrajectoryStore,
        arrivals: ArrivalQueue,
        ledger: EpisodeLedger,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self._store = store
        self._arrivals = arrivals
        self._ledger = ledger
        self._most_waiting = most_waiting
        self._held: deque[tuple[Reply, Received]] = deque()

    def deliver(self, encoded: bytes, reply: Reply) -> None:
        """Store a delivery; the sender hears now or, when many wait, later."""
        trajectory = decode_trajectory(encoded)
        try:
            new = self.take(trajectory)
        except StorageError as error:
            self._ledger.faults["not_stored"] += 1
            reply(Refused(trajectory.id, str(error)))
            return
        self._held.append((reply, Received(trajectory.id, new)))
        self.release()

    def take(self, trajectory: Trajectory) -> bool:
        """Store it and hand it on; False if it was known. Raises where the disk fails."""
        new = self._store.append(trajectory)
        if new:
            self._ledger.arrived(trajectory)
            self._arrivals.put(StoredTrajectory(trajectory, self._store.position))
        return new

    def release(self, *, all_of_them: bool = False) -> None:
        """Acknowledge what was held back, as far as the learner has caught up."""
        while self._held and (all_of_them or len(self._arrivals) < self._most_waiting):
            reply, answer = self._held.popleft()
            reply(answer)
