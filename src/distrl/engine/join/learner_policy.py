"""A joined collector's connection to the learner's policy, for `serving.policy_client`.

Each observation is one request; `AT_ONCE` are in flight over keep-alive connections, and more wait
here. The client sends an unanswered request again until `DECISION_SECONDS` have passed; then the
learner counts as lost, and the phones are left alone. Final refusals (for example of a screen that
the learner's model cannot take) are raised unchanged.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Self

from distrl.engine.join.decision_wire import MAX_ENDED, PolicyQuestion, ask_for
from distrl.engine.join.learner_client import JOIN_AGAIN, LearnerClient
from distrl.engine.serving.decision_messages import decision_of
from distrl.engine.serving.policy_server import ServerReport
from distrl.errors import JoinRefused, LearnerGone, PolicyServerGone
from distrl.records import Decision, Observation

AT_ONCE = 32  # requests in flight
DECISION_SECONDS = 60.0  # for a decision, all attempts together
REPORT_SECONDS = 1.0  # between two questions for the report
ENDED = "the session with the learner has ended"


class LearnerPolicyLine:
    """Implements `ServerLine`. A context manager; `heard` is called with each answer."""

    def __init__(self, client: LearnerClient, heard: Callable[[], None]) -> None:
        self._client = client
        self._heard = heard
        self._numbers = itertools.count()
        self._ended: list[str] = []  # episodes whose end the learner does not know yet
        self._asked = -float("inf")  # when the report was last asked for
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="decisions")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def submit(self, session: str, observation: Observation) -> Future[Decision]:
        answer: Future[Decision] = Future()
        try:
            work = self._threads.submit(self._decide, session, observation)
        except RuntimeError as error:  # the executor was shut down
            raise PolicyServerGone(ENDED) from error
        work.add_done_callback(partial(_hand_on, answer))
        return answer

    def _decide(self, session: str, observation: Observation) -> Decision:
        try:
            packed = self._client.decide(ask_for(next(self._numbers), session, observation))
        except LearnerGone as error:
            raise PolicyServerGone(str(error)) from error
        except JoinRefused as error:
            if error.status not in JOIN_AGAIN:
                raise
            raise PolicyServerGone(str(error)) from error
        self._heard()
        return decision_of(packed)

    def leave(self, session: str) -> None:
        with self._lock:
            self._ended.append(session)

    def report(self) -> ServerReport | None:
        """Request the report, if `REPORT_SECONDS` have passed, and report ended episodes."""
        if time.monotonic() - self._asked < REPORT_SECONDS:
            return None
        self._asked = time.monotonic()
        with self._lock:
            ended = tuple(self._ended[:MAX_ENDED])
        try:
            report = self._client.policy(PolicyQuestion(ended))
        except (LearnerGone, JoinRefused):
            return None  # heartbeats detect a lost learner
        with self._lock:
            del self._ended[: len(ended)]
        return report


def _hand_on(answer: Future[Decision], work: Future[Decision]) -> None:
    """Copy the outcome of `work` to `answer`; cancelled work counts as a lost server."""
    if work.cancelled():
        answer.set_exception(PolicyServerGone(ENDED))
    elif (error := work.exception()) is not None:
        answer.set_exception(error)
    else:
        answer.set_result(work.result())
