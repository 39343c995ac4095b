"""Sends a collector's trajectories to the learner's process, and waits until each is durable.

The trajectory is encoded here, once. `put` returns when the learner's side acknowledges it; until
then it is kept, and sent again if it could not be stored (a full disk, for example). A resend is
stored once: its id is known. Each device's thread waits in `put`, so no more is under way than
there are devices, and a learner that cannot keep up answers later. Thread-safe.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future

from distrl.engine.ingest.messages import Delivery, Received, Refused
from distrl.errors import LearnerGone
from distrl.records import Trajectory
from distrl.replay.trajectory_encoding import encode_trajectory

RETRY_SECONDS = 1.0  # after a trajectory could not be stored

log = logging.getLogger(__name__)


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
                log.info("acknowledged %s", trajectory.id)
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
