"""The desk of a collector that has no policy: it asks the policy server of its own node.

Each phone's thread sends its own question, so that the server can batch over all phones of the node
and nobody waits twice. Screens that the policy does not look at are not sent. What it promises:

- A question is answered by a policy, or raises: there is no other answer.
- A server that dies is looked for again and asked again, the one in its place; a decision is lost
  with it, an episode is not. Who gets no answer for `patience_seconds` gets a `PolicyServerGone`,
  which ends the collector, and the episodes under way are delivered by nobody.
- When it closes, whoever waits gets a `CancelledError`, as from every desk.

`version` is the newest that this server has decided with; it is asked for also while nobody plays,
for it says whether an episode may begin.
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Protocol

from distrl.engine.ray.policy_server import ServerReport
from distrl.episodes.policy_batcher import PolicyBatcherReport
from distrl.errors import PolicyServerGone
from distrl.records import Decision, Observation

PATIENCE_SECONDS = 300.0  # a server in place of another loads its model first
LOOK_SECONDS = 0.25  # between two looks at the server
CLOSING_SECONDS = 0.2  # after so long a waiting thread looks whether the desk has closed
RETRY_SECONDS = 0.1  # between two looks for a server that is not there


class PendingDecision(Protocol):
    """A question under way."""

    def wait(self, seconds: float) -> Decision | None:
        """The answer; None: not yet. `PolicyServerGone`: it never comes."""
        ...


class ServerLine(Protocol):
    """A way to one server. Where it is there no more, calls raise `PolicyServerGone`."""

    def ask(self, session: str, observation: Observation) -> PendingDecision: ...

    def leave(self, session: str) -> None: ...

    def report(self) -> ServerReport | None:
        """How it stands; None: it has not begun yet, or is slow to say."""
        ...


class PolicyClient:
    """Implements `DecisionService`. `find` returns the server of this node, or None."""

    def __init__(
        self,
        name: str,  # of the collector, and the beginning of its sessions' names
        find: Callable[[], ServerLine | None],
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self._name = name
        self._find = find
        self._patience_seconds = patience_seconds
        self._tickets = itertools.count()
        self._line: ServerLine | None = None
        self._seen: ServerReport | None = None  # of the server that was last seen
        self._version = 0
        self._decisions = 0
        self._open = True
        self._changed = threading.Condition()

    # The devices' side --------------------------------------------------------------------------

    def enter(self) -> int:
        return next(self._tickets)

    def ask(self, handle: int, observation: Observation) -> Decision:
        """Wait for a decision, through the death of servers if it must be."""
        session, until = self._session(handle), time.monotonic() + self._patience_seconds
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
            f"{self._name} had no decision from its node's policy server for "
            f"{self._patience_seconds:g} s; see the server's log for why it fails or hangs"
        )

    def leave(self, handle: int) -> None:
        line = self._line
        if line is not None:
            try:
                line.leave(self._session(handle))
            except PolicyServerGone:
                self._lose(line)

    def _session(self, handle: int) -> str:
        return f"{self._name}/{handle}"

    def _answer(self, question: PendingDecision, until: float) -> Decision:
        while self._still(until):
            if (decision := question.wait(CLOSING_SECONDS)) is not None:
                return decision
        raise PolicyServerGone("no answer in time")

    def _still(self, until: float) -> bool:
        """Is it worth waiting on?"""
        if not self._open:
            raise CancelledError("the desk has closed")
        return time.monotonic() < until

    def _needed(self, observation: Observation) -> Observation:
        """Without screens that the policy would not look at: they are most of what travels."""
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
        """Others decide; this thread keeps an eye on the server."""
        while going():
            self._look()
            self._pause(LOOK_SECONDS)

    def wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._open = False
            self._changed.notify_all()

    def update_weights(self) -> bool:
        """The server does that."""
        return False

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        """All at once, for whoever has no threads."""
        if not observations:
            return []
        tickets = [self.enter() for _ in observations]
        try:
            with ThreadPoolExecutor(len(observations)) as threads:
                return list(threads.map(self.ask, tickets, observations))
        finally:
            for handle in tickets:
                self.leave(handle)

    @property
    def version(self) -> int:
        return self._version

    def report(self) -> PolicyBatcherReport:
        """Its own decisions, with its share of the server's batches and seconds."""
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
        )

    # The server ---------------------------------------------------------------------------------

    def _reach(self) -> ServerLine | None:
        with self._changed:
            line = self._line
        if line is None and (line := self._find()) is not None:
            with self._changed:
                self._line = line
        return line

    def _lose(self, line: ServerLine) -> None:
        """It is there no more; whoever lost it first is right, and it may be found again."""
        with self._changed:
            if self._line is line:
                self._line = None

    def _look(self) -> None:
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
