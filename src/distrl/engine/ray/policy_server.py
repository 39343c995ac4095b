"""One policy for all phones of a node: whoever asks is answered together with all others who ask.

It is a `PolicyBatcher` whose phones are in other processes. A session is an episode: all its
questions come to this server, the one of its node, and are counted as one phone that may ask. Of
a session nothing else is remembered, for a policy has no memory: all that it may use stands in the
observation. So a server that is started anew can take over in the middle of every episode.

Every decision carries the version of the weights that made it; they change between two batches.
When it has closed, whoever waits or comes later gets a `PolicyServerGone`, never an answer that no
policy gave. A collector that died says no goodbye: its sessions are forgotten after a while.

Any thread may call; it knows nothing of Ray (`ray_policy_server`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass

from distrl.episodes.policy_batcher import PolicyBatcher, PolicyBatcherReport
from distrl.errors import PolicyServerGone
from distrl.records import Decision, Observation

SESSION_SECONDS = 120.0  # without a question, after which nobody waits for one any more


@dataclass(frozen=True, slots=True)
class ServerReport:
    """How a server stands."""

    name: str
    sessions: int  # episodes that ask here
    past_screens: int  # that the policy looks at; more need not be sent
    batcher: PolicyBatcherReport


@dataclass(slots=True)
class _Session:
    handle: int
    asking: int = 0  # questions under way
    left: bool = False
    heard: float = 0.0


class PolicyServer:
    """Decides for the phones of several collectors. `serve` is the one thread that does."""

    def __init__(
        self,
        name: str,
        batcher: PolicyBatcher,
        past_screens: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._batcher = batcher
        self._past_screens = past_screens
        self._clock = clock
        self._sessions: dict[str, _Session] = {}
        self._lock = threading.Lock()

    def serve(self, going: Callable[[], bool]) -> None:
        """Answer as long as it is `going`; then, or when the policy fails, answer nobody."""

        def tidied() -> bool:
            self._forget_the_silent()
            return going()

        self._batcher.open()
        try:
            self._batcher.serve(tidied)
        finally:
            self._batcher.close()

    def ask(self, session: str, observation: Observation) -> Decision:
        """Wait for a decision."""
        asking = self._take_up(session)
        try:
            return self._batcher.ask(asking.handle, observation)
        except CancelledError:
            raise PolicyServerGone(
                f"{self.name} has closed and decides nothing more; ask the server that takes its "
                "place"
            ) from None
        finally:
            self._put_down(session, asking)

    def leave(self, session: str) -> None:
        """The episode is over; one that is not known has been forgotten, or never asked."""
        with self._lock:
            found = self._sessions.get(session)
            if found is not None:
                found.left = True
                self._forget_if_left(session, found)

    def report(self) -> ServerReport:
        with self._lock:
            sessions = len(self._sessions)
        return ServerReport(self.name, sessions, self._past_screens, self._batcher.report())

    def _take_up(self, session: str) -> _Session:
        with self._lock:
            found = self._sessions.get(session)
            if found is None:
                found = self._sessions[session] = _Session(self._batcher.enter())
            found.asking += 1
            return found

    def _put_down(self, session: str, asked: _Session) -> None:
        with self._lock:
            asked.asking -= 1
            asked.heard = self._clock()
            self._forget_if_left(session, asked)

    def _forget_if_left(self, session: str, found: _Session) -> None:
        """A ticket with a question on the desk must stay: its owner gave up waiting, we did not."""
        if found.left and not found.asking:
            del self._sessions[session]
            self._batcher.leave(found.handle)

    def _forget_the_silent(self) -> None:
        since = self._clock() - SESSION_SECONDS
        with self._lock:
            silent = [
                (name, each)
                for name, each in self._sessions.items()
                if not each.asking and each.heard < since
            ]
            for name, each in silent:
                each.left = True
                self._forget_if_left(name, each)
