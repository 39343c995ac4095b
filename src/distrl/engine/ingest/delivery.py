"""Delivery of trajectories: from a collector to the disk and the learner, each exactly once.

    TrajectorySender     in the collector: encodes, sends, waits until it is durable, resends
    TrajectoryReceiver   beside the learner: stores, passes on, and only then acknowledges
    ArrivalQueue         from the receiver to the learner

- A trajectory is acknowledged only once it is durable in the store. One that cannot be written to
  the disk is refused, and its collector sends it again later.
- Each id is stored once; a trajectory that is sent again is acknowledged again, with no effect.
- A trajectory is encoded once, by its collector, and those bytes are stored. The receiver decodes
  them once, rejects malformed ones, and passes the result to the learner.
- Deliveries that arrive together share one disk sync (group commit): those of one call of
  `deliver_many`, and those of threads that call it while another thread stores.
- At most `limit` trajectories are stored. Later ones are dropped, and their collector is told so.
- Backpressure: when too many wait for the learner or for a judge (`deferred_judging`),
  acknowledgements are held back. Each device's thread waits for its own, so collectors pause.

Any number of threads may send, deliver and release. The receiver never waits for the learner or for
a collector.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Delivery, Received, Refused
from distrl.errors import DistrlError, LearnerGone, StorageError
from distrl.records import Ending, Trajectory
from distrl.replay.store.trajectory_reader import BEGINNING, Position, StoredTrajectory
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.replay.trajectory_encoding import decode_trajectory, encode_trajectory

if TYPE_CHECKING:
    from distrl.engine.ingest.deferred_judging import DeferredJudging

MAX_WAITING = 256  # trajectories between store and learner
RETRY_SECONDS = 1.0  # after a trajectory could not be stored

Acknowledge = Callable[[Received | Refused], None]
Decoded = tuple[Trajectory, bytes, Acknowledge]

log = logging.getLogger(__name__)


class ArrivalQueue:
    """Trajectories between the store and the learner, in the order of storing.

    The learner reads it as its `Arrivals`. `taken` is the store's position of the last one that it
    took. A checkpoint needs no more: after a restart, all that was stored later is queued again.
    One thread puts, another takes.
    """

    def __init__(self, taken: Position = BEGINNING) -> None:
        self.taken = taken
        self._waiting: deque[StoredTrajectory] = deque()
        self._changed = threading.Condition()
        self._woken = False

    def put(self, stored: StoredTrajectory) -> None:
        with self._changed:
            self._waiting.append(stored)
            self._changed.notify_all()

    def __len__(self) -> int:
        return len(self._waiting)

    def popleft(self) -> Trajectory:
        with self._changed:
            stored = self._waiting.popleft()
            self.taken = stored.position
            return stored.trajectory

    def wait(self, seconds: float) -> None:
        """Block until something is there or `wake` is called, for `seconds` at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._woken, seconds)
            self._woken = False

    def rest(self, seconds: float) -> None:
        """Block until `wake` is called, for `seconds` at most; arrivals do not end it."""
        with self._changed:
            self._changed.wait_for(lambda: self._woken, seconds)
            self._woken = False

    def wake(self) -> None:
        """End a `wait` or `rest`: something else has happened."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()


class TrajectorySender:
    """Implements `TrajectorySink` over a connection; `send` writes a message to it."""

    def __init__(
        self, send: Callable[[Delivery], None], retry_seconds: float = RETRY_SECONDS
    ) -> None:
        self._send = send
        self._retry_seconds = retry_seconds
        self._waiting: dict[str, Future[Received | Refused]] = {}
        self._gone = threading.Event()

    def put(self, trajectory: Trajectory) -> bool:
        """Send until acknowledged, else raise `LearnerGone`; return whether it was stored now."""
        delivery = Delivery(encode_trajectory(trajectory))
        while True:
            answer = self._delivered(trajectory.id, delivery)
            if isinstance(answer, Received):
                word = "acknowledged" if answer.kept else "not kept, the run has all that it wants:"
                log.info("%s %s", word, trajectory.id)
                return answer.new
            log.warning("not stored, will be sent again: %s: %s", answer.id, answer.reason)
            if self._gone.wait(self._retry_seconds):
                raise LearnerGone(f"trajectory {trajectory.id} was not stored: {answer.reason}")

    def _delivered(self, trajectory_id: str, delivery: Delivery) -> Received | Refused:
        answer: Future[Received | Refused] = Future()
        self._waiting[trajectory_id] = answer
        try:
            if self._gone.is_set():
                raise EOFError("the connection to the learner is gone")
            self._send(delivery)
            return answer.result()
        except EOFError as error:
            raise LearnerGone(f"trajectory {trajectory_id} was not delivered: {error}") from error
        finally:
            del self._waiting[trajectory_id]

    def answered(self, answer: Received | Refused) -> None:
        """Pass an answer to the `put` that waits for it. The connection's reader calls this."""
        waiting = self._waiting.get(answer.id)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def break_off(self) -> None:
        """Fail all waiting calls of `put`: the connection is gone."""
        self._gone.set()
        for waiting in list(self._waiting.values()):
            if not waiting.done():
                waiting.set_exception(EOFError("the connection to the learner is gone"))


@dataclass(slots=True)
class TrajectoryReceiver:
    """Stores deliveries, passes them on to the learner or a judge, and acknowledges them."""

    store: TrajectoryStore
    arrivals: ArrivalQueue
    episode_log: EpisodeLog
    max_waiting: int = MAX_WAITING
    verdicts: DeferredJudging | None = None
    max_unjudged: int = MAX_WAITING
    limit: int | None = None  # trajectories of the run; None: any number
    _inbox: deque[Decoded] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)  # guards the store and `_held`
    _held: deque[tuple[Acknowledge, Received]] = field(default_factory=deque)

    def deliver(self, encoded: bytes, acknowledge: Acknowledge) -> None:
        """Store a delivery; call `acknowledge` now or, while too many wait, later."""
        self.deliver_many([(encoded, acknowledge)])

    def deliver_many(self, deliveries: Iterable[tuple[bytes, Acknowledge]]) -> None:
        """Store deliveries with one disk sync; raise `CorruptRecord` if one cannot be decoded.

        The first thread that gets the lock also stores what other threads have queued meanwhile.
        """
        self._inbox.extend([(decode_trajectory(data), data, reply) for data, reply in deliveries])
        with self._lock:
            batch = [self._inbox.popleft() for _ in range(len(self._inbox))]
            if batch:
                self._store_all(batch)
            self._release()

    @property
    def room(self) -> int | None:
        """How many more trajectories the run wants; None: any number."""
        return None if self.limit is None else max(0, self.limit - self.episode_log.trajectories)

    def _store_all(self, batch: list[Decoded]) -> None:
        if self.room is not None:
            batch, unwanted = batch[: self.room], batch[self.room :]
            self._held.extend(
                (reply, Received(each.id, new=False, kept=False)) for each, _, reply in unwanted
            )
        try:
            new = self.store.append_encoded([(each.id, data) for each, data, _ in batch])
        except DistrlError as error:
            for trajectory, _, acknowledge in batch:
                self.episode_log.faults["not_stored"] += 1
                acknowledge(Refused(trajectory.id, str(error)))
            if not isinstance(error, StorageError):
                raise
            return
        for (trajectory, _, acknowledge), position in zip(batch, new, strict=True):
            if position is not None:
                self._hand_on(trajectory, position)
            self._held.append((acknowledge, Received(trajectory.id, position is not None)))

    def __contains__(self, trajectory_id: str) -> bool:
        """Return whether it is stored, acknowledged or not."""
        with self._lock:
            return trajectory_id in self.store

    def put(self, trajectory: Trajectory) -> bool:
        """Store it, for a collector in this process (`TrajectorySink`); raise on a bad disk."""
        with self._lock:
            if self.room == 0:
                return False
            [position] = self.store.append_encoded([(trajectory.id, encode_trajectory(trajectory))])
            if position is not None:
                self._hand_on(trajectory, position)
        return position is not None

    def _hand_on(self, trajectory: Trajectory, position: Position) -> None:
        self.episode_log.arrived(trajectory)
        if self.verdicts is not None and trajectory.ending is Ending.AWAITING_VERDICT:
            self.verdicts.submit(trajectory)
        else:
            self.arrivals.put(StoredTrajectory(trajectory, position))

    def judge_again(self, trajectory: Trajectory) -> None:
        """Submit a trajectory that was stored before a restart, if it still has no verdict."""
        if self.verdicts is not None and trajectory.ending is Ending.AWAITING_VERDICT:
            self.verdicts.submit(trajectory)

    @property
    def unjudged(self) -> int:
        """How many are stored and wait for their verdict."""
        return 0 if self.verdicts is None else len(self.verdicts)

    def settle(self, seconds: float) -> bool:
        """Wait up to `seconds` for outstanding verdicts; return whether none is left.

        Call it when no more deliveries come.
        """
        return self.verdicts is None or self.verdicts.settle(seconds)

    def release(self, *, all_of_them: bool = False) -> None:
        """Send held-back acknowledgements, as far as the learner and the judge have caught up."""
        with self._lock:
            self._release(all_of_them=all_of_them)

    def _release(self, *, all_of_them: bool = False) -> None:
        if self.verdicts is not None:
            self.verdicts.take_off()
        while self._held and (all_of_them or self._has_room()):
            acknowledge, answer = self._held.popleft()
            acknowledge(answer)

    def _has_room(self) -> bool:
        return len(self.arrivals) < self.max_waiting and self.unjudged < self.max_unjudged
