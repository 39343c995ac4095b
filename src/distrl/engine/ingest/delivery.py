"""Delivery of trajectories: from a collector to the disk and the learner, each exactly once.

    TrajectorySender     in the collector: encodes, sends, waits until it is durable, sends again
    TrajectoryReceiver   beside the learner: stores, hands on, and only then acknowledges
    ArrivalQueue         from there to the learner

- Nothing is acknowledged that is not durable in the store. What the disk does not take is refused,
  and its collector sends it again later.
- Each id is taken once; what is sent again is acknowledged again and changes nothing.
- A trajectory is encoded once, by its collector: those bytes are what is stored. They are decoded
  once, by the receiver, which refuses malformed ones; the learner gets the result.
- Deliveries that come at once share one wait for the disk (group commit): those of one call of
  `deliver_many`, and those of threads that call while another thread stores.
- No more than `limit` are stored: what comes when the run has all that it wants is dropped, and its
  collector is told so.
- When too many wait for the learner, or for a judge (`deferred_judging`), acknowledgements wait as
  well, which holds collectors back: each device's thread waits for its own.

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

    The learner reads it as its `Arrivals`; `taken` is the store's position of the last one that it
    took, which is all that a checkpoint needs: what is stored after it comes again after a restart.
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
        """Block until `wake` is called, whatever arrives, for `seconds` at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._woken, seconds)
            self._woken = False

    def wake(self) -> None:
        """End a `wait` or `rest`: something else has happened."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()


class TrajectorySender:
    """Implements `TrajectorySink` over a connection: `send` hands a message to it."""

    def __init__(
        self, send: Callable[[Delivery], None], retry_seconds: float = RETRY_SECONDS
    ) -> None:
        self._send = send
        self._retry_seconds = retry_seconds
        self._waiting: dict[str, Future[Received | Refused]] = {}
        self._gone = threading.Event()

    def put(self, trajectory: Trajectory) -> bool:
        """True: it is stored. False: it was before. `LearnerGone`: no acknowledgement can come."""
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
        """Hand in an answer; the reader of the connection calls this."""
        waiting = self._waiting.get(answer.id)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def break_off(self) -> None:
        """The connection is gone: fail all that wait."""
        self._gone.set()
        for waiting in list(self._waiting.values()):
            if not waiting.done():
                waiting.set_exception(EOFError("the connection to the learner is gone"))


@dataclass(slots=True)
class TrajectoryReceiver:
    """Stores deliveries, hands them on, and acknowledges them."""

    store: TrajectoryStore
    arrivals: ArrivalQueue
    episode_log: EpisodeLog
    max_waiting: int = MAX_WAITING
    verdicts: DeferredJudging | None = None
    max_unjudged: int = MAX_WAITING
    limit: int | None = None  # trajectories of the run; None: any number
    _inbox: deque[Decoded] = field(default_factory=deque)
    _lock: threading.Lock = field(
        default_factory=threading.Lock
    )  # guards the store and what follows
    _held: deque[tuple[Acknowledge, Received]] = field(default_factory=deque)

    def deliver(self, encoded: bytes, acknowledge: Acknowledge) -> None:
        """Store a delivery; `acknowledge` is called now or, when many wait, later."""
        self.deliver_many([(encoded, acknowledge)])

    def deliver_many(self, deliveries: Iterable[tuple[bytes, Acknowledge]]) -> None:
        """Store deliveries with one wait for the disk; raises `CorruptRecord` where one is none.

        The first thread that gets the lock also stores what others have brought meanwhile.
        """
        self._inbox.extend([(decode_trajectory(data), data, reply) for data, reply in deliveries])
        with self._lock:
            batch = [self._inbox.popleft() for _ in range(len(self._inbox))]
            if batch:
                self._store_all(batch)
            self._release()

    @property
    def room(self) -> int | None:
        """How many more the run wants; None: any number."""
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
        """Is it stored, acknowledged or not?"""
        with self._lock:
            return trajectory_id in self.store

    def put(self, trajectory: Trajectory) -> bool:
        """Implements `TrajectorySink` for a collector of this process. Raises on a bad disk."""
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
        """Submit one that was stored before a restart, if it still waits for its verdict."""
        if self.verdicts is not None and trajectory.ending is Ending.AWAITING_VERDICT:
            self.verdicts.submit(trajectory)

    @property
    def unjudged(self) -> int:
        """How many are stored and wait for their verdict."""
        return 0 if self.verdicts is None else len(self.verdicts)

    def settle(self, seconds: float) -> bool:
        """Wait up to `seconds` for verdicts that are on their way; True if none is left.

        Call it when no more deliveries come.
        """
        return self.verdicts is None or self.verdicts.settle(seconds)

    def release(self, *, all_of_them: bool = False) -> None:
        """Acknowledge what was held back, as far as the learner and the judge have caught up."""
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
