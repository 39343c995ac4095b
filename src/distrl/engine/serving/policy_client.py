"""The `DecisionService` of a collector without a policy: it asks the policy server of its node.

The calling thread sends a request, and the thread that listens to the server completes its future.
So any number of requests can be in flight without a thread for each, and the server batches over
all devices of the node. Past screens that the policy does not use are not sent. Guarantees:

- Every request is answered by a policy, or its future gets an error.
- If the server dies, the requests that it has not answered are sent to its replacement: a decision
  is lost, but no episode. A request without an answer for `patience_seconds` fails with
  `PolicyServerGone`, which ends the collector and loses its episodes in progress.
- `close` cancels pending requests, as that of `PolicyBatcher` does.

A thread in `serve`, `ask` or `decide` looks for replacement servers and for expired requests; a
collector is in `serve` all the time.

`version` is the newest weight version that the server has decided with. It is polled also while no
episode runs, since it determines whether one may begin.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from distrl.engine.serving.policy_server import ServerReport
from distrl.episodes.policy_batcher import PolicyBatcherReport
from distrl.errors import PolicyServerGone
from distrl.records import Decision, Observation

PATIENCE_SECONDS = 300.0  # a replacement server loads its model first
POLL_SECONDS = 0.25  # between two requests for the server's report
RESEND_SECONDS = 0.2  # between two checks of a waiting caller for lost requests


class ServerLine(Protocol):
    """A connection to one server. Once it is gone, calls raise `PolicyServerGone`."""

    def submit(self, session: str, observation: Observation) -> Future[Decision]:
        """Send a request. Its future fails with `PolicyServerGone` if the server ends first.

        Callbacks of the future must not block: they run in the thread that completes it.
        """
        ...

    def leave(self, session: str) -> None: ...

    def report(self) -> ServerReport | None:
        """Return its report; None if it is still loading or did not answer in time."""
        ...


@dataclass(slots=True, eq=False)
class _Request:
    """A request without an answer so far."""

    number: int
    session: str
    observation: Observation
    until: float  # deadline: without an answer by then it fails
    failure: str = ""  # of the last attempt
    decision: Future[Decision] = field(default_factory=Future)


@dataclass(slots=True)
class PolicyClient:
    """Implements `DecisionService`. `find` returns the server of this node, or None."""

    name: str  # of the collector; prefix of its session names
    find: Callable[[], ServerLine | None]
    patience_seconds: float = PATIENCE_SECONDS
    _handles: itertools.count[int] = field(default_factory=itertools.count)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _line: ServerLine | None = None
    _waiting: dict[int, _Request] = field(default_factory=dict)  # by number, oldest first
    _unsent: list[_Request] = field(default_factory=list)  # requests that no living server has
    _seen: ServerReport | None = None  # the last report
    _version: int = 0
    _decisions: int = 0
    _open: bool = True
    # Guards the fields above. Hold it only briefly: threads that must not block take it, too.
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _finding: threading.Lock = field(default_factory=threading.Lock)  # held while calling `find`

    # The devices' side --------------------------------------------------------------------------

    def enter(self) -> int:
        return next(self._handles)

    def ask(self, handle: int, observation: Observation) -> Decision:
        """Wait for a decision, from a replacement if the server dies."""
        return self._waited_for(self.submit(handle, observation))

    def submit(self, handle: int, observation: Observation) -> Future[Decision]:
        """Send a request, or queue it for the next server; cancel it if the client is closed."""
        until = time.monotonic() + self.patience_seconds
        request = _Request(next(self._numbers), self._session(handle), observation, until)
        with self._changed:
            line, is_open = self._line, self._open
            if is_open:
                self._waiting[request.number] = request
                if line is None:
                    self._unsent.append(request)
        if not is_open:
            request.decision.cancel()
        elif line is not None:
            self._send(line, request)
        return request.decision

    def leave(self, handle: int) -> None:
        line = self._line
        if line is not None:
            try:
                line.leave(self._session(handle))
            except PolicyServerGone:
                self._lose(line)

    def _session(self, handle: int) -> str:
        return f"{self.name}/{handle}"

    def _waited_for(self, decision: Future[Decision]) -> Decision:
        while not decision.done():
            self._resend_pending()
            wait((decision,), RESEND_SECONDS)
        return decision.result()

    def _needed(self, observation: Observation) -> Observation:
        """Drop past screens that the policy does not use: they are most of the bytes sent."""
        used = len(observation.past_screens) if self._seen is None else self._seen.past_screens
        first = max(0, len(observation.past_screens) - used)
        if first == 0:
            return observation
        return dataclasses.replace(observation, past_screens=observation.past_screens[first:])

    # The side of the collector's own thread -----------------------------------------------------

    def open(self) -> None:
        with self._changed:
            self._open = True

    def serve(self, going: Callable[[], bool]) -> None:
        """While `going()`, look for a server, resend lost requests and poll the weight version."""
        while going():
            self._resend_pending()
            self._poll()
            with self._changed:
                self._changed.wait(POLL_SECONDS)

    def wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """Cancel all requests, and refuse new ones."""
        with self._changed:
            self._open = False
            cancelled = list(self._waiting.values())
            self._waiting, self._unsent = {}, []
            self._changed.notify_all()
        for request in cancelled:  # outside the lock: callbacks of futures may take other locks
            request.decision.cancel()

    def update_weights(self) -> bool:
        """Nothing to do: the server updates its own weights."""
        return False

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        """Decide for several at once, for callers without threads."""
        if not observations:
            return []
        handles = [self.enter() for _ in observations]
        try:
            asked = [self.submit(*each) for each in zip(handles, observations, strict=True)]
            return [self._waited_for(decision) for decision in asked]
        finally:
            for handle in handles:
                self.leave(handle)

    @property
    def version(self) -> int:
        return self._version

    @property
    def seen(self) -> ServerReport | None:
        """The server's last report; None: it has not answered yet."""
        return self._seen

    def report(self) -> PolicyBatcherReport:
        """Return this client's decisions, and its share of the server's batches and seconds."""
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
            notice=server.notice,
        )

    # Requests and their answers -----------------------------------------------------------------

    def _send(self, line: ServerLine, request: _Request) -> None:
        try:
            answer = line.submit(request.session, self._needed(request.observation))
        except PolicyServerGone as error:
            self._lose(line, request, error)
        else:
            answer.add_done_callback(partial(self._answered, line, request))

    def _answered(self, line: ServerLine, request: _Request, answer: Future[Decision]) -> None:
        """Complete the request. Called by the thread that listens to the server."""
        error = answer.exception()
        if isinstance(error, PolicyServerGone):
            self._lose(line, request, error)
        elif error is not None:
            self._fail(request, error)
        elif self._is_taken(request):
            decision = answer.result()
            with self._changed:
                self._decisions += 1
                self._version = max(self._version, decision.weight_version)
            request.decision.set_result(decision)

    def _fail(self, request: _Request, error: BaseException) -> None:
        if self._is_taken(request):
            request.decision.set_exception(error)

    def _is_taken(self, request: _Request) -> bool:
        """Claim the request: complete it if this returns True. False: expired or cancelled."""
        with self._changed:
            taken = self._waiting.pop(request.number, None) is not None
        return taken and request.decision.set_running_or_notify_cancel()

    def _resend_pending(self) -> None:
        """Fail the expired requests, and send those that no living server has."""
        for request in self._too_late():
            self._fail(request, self._no_decision(request))
        with self._changed:  # drop expired ones also while there is no server
            self._unsent = [each for each in self._unsent if each.number in self._waiting]
        line = self._reach() if self._unsent else None
        if line is None:
            return
        with self._changed:
            unsent, self._unsent = self._unsent, []
        for request in unsent:
            self._send(line, request)

    def _too_late(self) -> list[_Request]:
        now = time.monotonic()
        with self._changed:
            oldest_first = self._waiting.values()
            return list(itertools.takewhile(lambda each: each.until <= now, oldest_first))

    def _no_decision(self, request: _Request) -> PolicyServerGone:
        last = f" (the last attempt: {request.failure})" if request.failure else ""
        return PolicyServerGone(
            f"{self.name} had no decision from its policy server for {self.patience_seconds:g} s"
            f"{last}; see the server's log for why it fails or hangs"
        )

    # The server ---------------------------------------------------------------------------------

    def _reach(self) -> ServerLine | None:
        """Return the one connection of all threads, opened if there is none; None: not yet."""
        with self._finding:
            if self._line is None:
                with contextlib.suppress(PolicyServerGone):  # it cannot be looked up right now
                    found = self.find()
                    with self._changed:
                        self._line = found
            return self._line

    def _lose(
        self,
        line: ServerLine,
        request: _Request | None = None,
        error: PolicyServerGone | None = None,
    ) -> None:
        """Drop a failed connection, unless already replaced; queue the request for the next."""
        with self._changed:
            if self._line is line:
                self._line = None
            if request is not None and request.number in self._waiting:
                request.failure = str(error)
                self._unsent.append(request)

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
