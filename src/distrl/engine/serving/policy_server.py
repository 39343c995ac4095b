"""One policy for all devices of a node: concurrent requests are answered in batches.

It wraps a `PolicyBatcher` whose devices are in other processes. A session is an episode and counts
as one device that may ask. The server keeps nothing else of it, since a policy is stateless: all
that it uses is in the observation. So a replacement can take over in the middle of every episode.

Every decision carries the version of the weights that made it; weights change between two batches.
After closing, pending and later requests get a `PolicyServerGone`. Sessions of a collector that
died are dropped after `SESSION_SECONDS` without a request.

Thread-safe, and independent of how requests arrive: as calls of an actor
(`ray.policy_server_pool`) or over sockets of one machine (`local.policy_process`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from distrl.episodes.policy_batcher import PolicyBatcher, PolicyBatcherReport
from distrl.errors import PolicyServerGone
from distrl.records import Decision, Observation

SERVER_BATCH = 256  # observations at most: of all devices of a node
SESSION_SECONDS = 120.0  # without a request, after which a session is dropped


@dataclass(frozen=True, slots=True)
class ServerReport:
    """A server's sessions and batches."""

    name: str
    sessions: int  # episodes in progress
    past_screens: int  # that the policy uses; more need not be sent
    batcher: PolicyBatcherReport


@dataclass(slots=True)
class _Session:
    handle: int
    asking: int = 0  # requests in progress
    left: bool = False
    heard: float = 0.0


@dataclass(slots=True)
class PolicyServer:
    """Decides for the devices of several collectors, in the one thread that calls `serve`."""

    name: str
    batcher: PolicyBatcher
    past_screens: int
    clock: Callable[[], float] = time.monotonic
    _sessions: dict[str, _Session] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def serve(self, going: Callable[[], bool]) -> None:
        """Answer requests until `going()` is False or the policy fails; then close."""

        def tidied() -> bool:
            self._drop_silent_sessions()
            return going()

        self.batcher.open()
        try:
            self.batcher.serve(tidied)
        finally:
            self.batcher.close()

    def ask(self, session: str, observation: Observation) -> Decision:
        """Wait for a decision."""
        answer: Future[Decision | None] = Future()
        self.submit(session, observation, answer.set_result)
        decision = answer.result()
        if decision is None:
            raise PolicyServerGone(
                f"{self.name} has closed and decides nothing more; ask the server that takes its "
                "place"
            )
        return decision

    def submit(
        self, session: str, observation: Observation, answer: Callable[[Decision | None], None]
    ) -> None:
        """Have the deciding thread call `answer` with the decision; None: the server closed."""
        asking = self._begin_request(session)

        def answered(decided: Future[Decision]) -> None:
            self._end_request(session, asking)
            answer(None if decided.cancelled() else decided.result())

        self.batcher.submit(asking.handle, observation).add_done_callback(answered)

    def leave(self, session: str) -> None:
        """End a session; unknown ones (dropped, or of an earlier server) are ignored."""
        with self._lock:
            found = self._sessions.get(session)
            if found is not None:
                found.left = True
                self._drop_if_left(session, found)

    def report(self) -> ServerReport:
        with self._lock:
            sessions = len(self._sessions)
        return ServerReport(self.name, sessions, self.past_screens, self.batcher.report())

    def _begin_request(self, session: str) -> _Session:
        with self._lock:
            found = self._sessions.get(session)
            if found is None:
                found = self._sessions[session] = _Session(self.batcher.enter())
            found.asking += 1
            return found

    def _end_request(self, session: str, asked: _Session) -> None:
        with self._lock:
            asked.asking -= 1
            asked.heard = self.clock()
            self._drop_if_left(session, asked)

    def _drop_if_left(self, session: str, found: _Session) -> None:
        """Drop a session that has ended, but keep its handle while a request is unanswered."""
        if found.left and not found.asking:
            del self._sessions[session]
            self.batcher.leave(found.handle)

    def _drop_silent_sessions(self) -> None:
        since = self.clock() - SESSION_SECONDS
        with self._lock:
            silent = [
                (name, each)
                for name, each in self._sessions.items()
                if not each.asking and each.heard < since
            ]
            for name, each in silent:
                each.left = True
                self._drop_if_left(name, each)
