"""The `DecisionService` of a collector without a policy: it asks the policy server of its node.

Each request is sent by its own thread, so that the server batches over all devices of the node.
Screens that the policy does not use are not sent. Guarantees:

- A request is answered by a policy, or raises.
- If the server dies, the request is repeated to its replacement: a decision is lost, the episode is
  not. Without an answer for `patience_seconds`, `PolicyServerGone` is raised: it ends the collector
  and loses its episodes in progress.
- On `close`, threads that wait get a `CancelledError`, as from `PolicyBatcher`.

`version` is the newest that the server has decided with; it is polled also while no episode runs,
since it decides whether one may begin.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from distrl.engine.serving.policy_server import ServerReport
from distrl.episodes.policy_batcher import PolicyBatcherReport
from distrl.errors import PolicyServerGone
from distrl.records import Decision, Observation

PATIENCE_SECONDS = 300.0  # a replacement server loads its model first
POLL_SECONDS = 0.25  # between two requests for the server's report
CLOSING_SECONDS = 0.2  # between a waiting thread's checks whether the client has closed
RETRY_SECONDS = 0.1  # between two attempts to find a server
REQUESTS = 512  # at once, each in a thread: enough for a GPU's batch and the next one


class ServerLine(Protocol):
    """A connection to one server. Where it is gone, calls raise `PolicyServerGone`."""

    def ask(self, session: str, observation: Observation) -> Callable[[float], Decision | None]:
        """Send a request. What is returned waits that long for the decision; None: not yet."""
        ...

    def leave(self, session: str) -> None: ...

    def report(self) -> ServerReport | None:
        """Its report; None: it is still loading, or did not answer in time."""
        ...


@dataclass(slots=True)
class PolicyClient:
    """Implements `DecisionService`. `find` returns the server of this node, or None."""

    name: str  # of the collector, and the beginning of its sessions' names
    find: Callable[[], ServerLine | None]
    patience_seconds: float = PATIENCE_SECONDS
    _handles: itertools.count[int] = field(default_factory=itertools.count)
    _line: ServerLine | None = None
    _seen: ServerReport | None = None  # the last report
    _version: int = 0
    _decisions: int = 0
    _open: bool = True
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(REQUESTS))
    _finding: threading.Lock = field(default_factory=threading.Lock)  # guards `_line`

    # The devices' side --------------------------------------------------------------------------

    def enter(self) -> int:
        return next(self._handles)

    def ask(self, handle: int, observation: Observation) -> Decision:
        """Wait for a decision, from a replacement if the server dies."""
        session, until = self._session(handle), time.monotonic() + self.patience_seconds
        while self._still(until):
            line = self._reach()
            if line is None:
                self._pause(RETRY_SECONDS)
                continue
            try:
                decision = self._answer(line.ask(session, self._needed(observation)), until)
            except PolicyServerGone:
                self._lose(line)
                self._pause(RETRY_SECONDS)
            else:
                self._decided(decision)
                return decision
        raise PolicyServerGone(
            f"{self.name} had no decision from its node's policy server for "
            f"{self.patience_seconds:g} s; see the server's log for why it fails or hangs"
        )

    def submit(self, handle: int, observation: Observation) -> Future[Decision]:
        """Ask in a thread of the client, `REQUESTS` at a time."""
        return self._threads.submit(self.ask, handle, observation)

    def leave(self, handle: int) -> None:
        line = self._line
        if line is not None:
            try:
                line.leave(self._session(handle))
            except PolicyServerGone:
                self._lose(line)

    def _session(self, handle: int) -> str:
        return f"{self.name}/{handle}"

    def _answer(self, wait: Callable[[float], Decision | None], until: float) -> Decision:
        while self._still(until):
            if (decision := wait(CLOSING_SECONDS)) is not None:
                return decision
        raise PolicyServerGone("no answer in time")

    def _still(self, until: float) -> bool:
        """Whether to wait on; raises if the client has closed."""
        if not self._open:
            raise CancelledError("the policy client has closed")
        return time.monotonic() < until

    def _needed(self, observation: Observation) -> Observation:
        """Without past screens that the policy does not use: they are most of the bytes sent."""
        if self._seen is None:
            return observation
        first = max(0, len(observation.past_screens) - self._seen.past_screens)
        return dataclasses.replace(observation, past_screens=observation.past_screens[first:])

    def _decided(self, decision: Decision) -> None:
        with self._changed:
            self._decisions += 1
            self._version = max(self._version, decision.weight_version)

    # The side of the collector's own thread -----------------------------------------------------

    def open(self) -> None:
        with self._changed:
            self._open = True

    def serve(self, going: Callable[[], bool]) -> None:
        """Poll the server's report while `going`; the server decides."""
        while going():
            self._poll()
            self._pause(POLL_SECONDS)

    def wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._open = False
            self._changed.notify_all()

    def update_weights(self) -> bool:
        """Nothing to do: the server updates its own weights."""
        return False

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        """Decide for several at once, for callers without threads."""
        if not observations:
            return []
        handles = [self.enter() for _ in observations]
        try:
            return list(self._threads.map(self.ask, handles, observations))
        finally:
            for handle in handles:
                self.leave(handle)

    @property
    def version(self) -> int:
        return self._version

    def report(self) -> PolicyBatcherReport:
        """This client's decisions, with its share of the server's batches and seconds."""
        server = self._seen.batcher if self._seen else PolicyBatcherReport(0, {}, 0, 0, 0.0, 0.0)
        share = min(1.0, self._decisions / max(1, server.decisions))
        batches = {size: round(share * count) for size, count in server.batches.items()}
        return PolicyBatcherReport(
            decisions=self._decisions,
            batches={size: count for size, count in batches.items() if count},
            swaps=server.swaps,
            weight_version=self._version,
            deciding_seconds=share * server.deciding_seconds,
            swapping_seconds=share * server.swapping_seconds,
            weight_digest=server.weight_digest if server.weight_version == self._version else "",
        )

    # The server ---------------------------------------------------------------------------------

    def _reach(self) -> ServerLine | None:
        """One connection for all threads, found by the first that has none; None: not yet."""
        with self._finding:
            if self._line is None:
                with contextlib.suppress(PolicyServerGone):  # it cannot be looked for just now
                    self._line = self.find()
            return self._line

    def _lose(self, line: ServerLine) -> None:
        """Forget a connection that failed, unless another thread has replaced it already."""
        with self._finding:
            if self._line is line:
                self._line = None

    def _poll(self) -> None:
        line = self._reach()
        if line is None:
            return
        try:
            report = line.report()
        except PolicyServerGone:
            self._lose(line)
            return
        if report is not None:
            with self._changed:
                self._seen = report
                self._version = max(self._version, report.batcher.weight_version)

    def _pause(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait(seconds)
