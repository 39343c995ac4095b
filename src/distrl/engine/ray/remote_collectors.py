"""The learner's side of collectors that call it from other processes: a queue of deliveries.

Implements `Collectors` (`run.collection`). Calls of many collectors come in many threads; the one
thread of the collection takes all that has come and stores it in one commit. Nothing is started,
killed or told from here: the command that owns the actors starts and kills them (`collector_pool`),
and orders are the answers to heartbeats.
"""

from __future__ import annotations

import queue
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet

from distrl.engine.ingest.messages import Received, Refused
from distrl.engine.run.collection import Arrived, Reply
from distrl.errors import CollectorsLost

ANSWER_SECONDS = 0.1  # between two looks whether the run has ended meanwhile


class RemoteCollectors:
    """Hands deliveries from the threads of calls to the thread that stores them."""

    def __init__(self) -> None:
        self._deliveries: queue.SimpleQueue[tuple[bytes, Reply]] = queue.SimpleQueue()
        self._closed = False

    def deliver(self, encoded: bytes) -> Received | Refused:
        """Return when the trajectory is durable, or was refused; later while the learner is behind.

        Any thread may call.
        """
        answer: Future[Received | Refused] = Future()
        self._deliveries.put((encoded, answer.set_result))
        while not self._closed:
            try:
                return answer.result(ANSWER_SECONDS)
            except NotYet:
                continue
        if answer.done():
            return answer.result()
        raise CollectorsLost("the learner has ended; what was not acknowledged is not stored")

    def receive(self, seconds: float) -> Arrived:
        arrived = Arrived([], [])
        try:
            arrived.deliveries.append(self._deliveries.get(timeout=seconds))
            while True:
                arrived.deliveries.append(self._deliveries.get_nowait())
        except queue.Empty:
            return arrived

    def look_after(self) -> None:
        """Nothing: see above."""

    def close(self) -> None:
        """Calls that wait for an answer get none."""
        self._closed = True
