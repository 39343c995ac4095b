"""Asynchronous collection: collectors and the learner work at the same time.

    collectors     play episodes without end, in processes of their own or on other machines
        │ ▲        deliveries and heartbeats down, acknowledgements and the pace up
        ▼ │        (`Collectors`: sockets, or calls of Ray actors)
    this thread    receive → store (one commit for all that came) → arrival queue → acknowledge
        │          heartbeats → registry; dead and unresponsive collectors are replaced
        ▼
    arrivals       what is stored and was not yet taken (`ArrivalQueue`)
        │
        ▼
    learner        the caller's thread: takes what has arrived, learns, publishes weights, and says
                   how far collectors may go (`pace`)

Neither side waits for the other. Two things hold collectors back: the bound on staleness
(`pace_of`), and acknowledgements that are held while too much waits for the learner
(`ingest.delivery`). The thread never waits for the learner or for a collector.

`Collection` is the interface that a training run uses. The base class collects nothing, for runs
that learn from a corpus alone. `local.synchronous_collection` and `local.one_process_collection`
are the other ways to collect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from distrl.engine.ingest.delivery import Acknowledge, ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.messages import Heartbeat, Pace, Received, Refused
from distrl.engine.supervision.collector_registry import (
    LAST_SECONDS,
    CollectorInfo,
    CollectorRegistry,
)
from distrl.episodes.collector_report import CollectorReport
from distrl.learning.learner import Learner
from distrl.watched_threads import WatchedThreads
from distrl.weights.staleness import max_in_flight

RECEIVE_SECONDS = 0.1  # how long the thread waits for messages before it looks after collectors
MAX_IN_FLIGHT = 1 << 20  # no run has more devices


class Collection:
    """Brings trajectories into the arrivals of a learner; the base class brings none."""

    def start(self) -> None:
        """Begin; trajectories may arrive from now on."""

    def pace(self, learner: Learner) -> None:
        """Tell collectors how far they may go, after a step of the learner. Raise what failed."""

    def wait(self, seconds: float) -> bool:
        """Wait up to `seconds` for trajectories; return whether the learner should try again."""
        return True

    def stop(self, finish_within: float) -> None:
        """Stop; episodes in flight may take that many seconds. Nothing arrives afterwards."""

    def reports(self) -> list[CollectorReport]:
        """The last report of each collector."""
        return []

    def ended_reports(self) -> list[CollectorReport]:
        """Return the last reports of collectors that have ended since the last call."""
        return []

    def phone_seconds(self) -> dict[str, float]:
        """Seconds of all phones together, by stage (`collector_report`)."""
        return {}

    def states(self) -> dict[int, str]:
        """What each collector would resume from (JSON), by number; for checkpoints."""
        return {}


@dataclass(frozen=True, slots=True)
class Arrived:
    """What `receive` returns: encoded trajectories, each with its reply function; heartbeats."""

    deliveries: list[tuple[bytes, Acknowledge]]
    heartbeats: list[tuple[CollectorInfo, Heartbeat]]


class Collectors(Protocol):
    """The transport to all collectors of a run; only the thread of a collection calls it."""

    def receive(self, seconds: float) -> Arrived:
        """Wait up to `seconds` for something; return everything that has come."""
        ...

    def look_after(self) -> None:
        """Kill unresponsive collectors, start those that are due, send the others their orders."""
        ...

    def close(self) -> None:
        """Kill what still runs. Called when the collection ends, however it does."""
        ...


class AsynchronousCollection(Collection):
    """Implements `Collection` with collectors that never pause."""

    def __init__(
        self,
        registry: CollectorRegistry,
        collectors: Collectors,
        receiver: TrajectoryReceiver,
        arrivals: ArrivalQueue,
    ) -> None:
        self._registry = registry
        self._collectors = collectors
        self._receiver = receiver
        self._arrivals = arrivals
        self._thread = WatchedThreads("collection", self._serve, arrivals.wake)

    # The learner's thread -----------------------------------------------------------------------

    def start(self) -> None:
        self._thread.start()

    def pace(self, learner: Learner) -> None:
        self.set_pace(pace_of(learner))

    def set_pace(self, pace: Pace) -> None:
        self.check()
        self._registry.set_pace(pace)

    def wait(self, seconds: float) -> bool:
        self._arrivals.wait(seconds)
        self.check()
        return True

    def check(self) -> None:
        """Raise what has failed in the thread; `CollectorsLost` when no collector is left."""
        self._thread.raise_failure()
        self._registry.check()

    def stop(self, finish_within: float) -> None:
        """Have all collectors end, kill those that do not; then wait for outstanding verdicts."""
        self._registry.stop(finish_within)
        ended = self._thread.join(finish_within + 2 * LAST_SECONDS)
        if ended and not self._receiver.settle(finish_within):
            self._receiver.release(all_of_them=True)
        self._thread.raise_failure()

    def kill(self) -> None:
        """End all at once; without effect after `stop`."""
        self._registry.stop(-float("inf"))
        self._thread.join(LAST_SECONDS)
        self._collectors.close()

    def reports(self) -> list[CollectorReport]:
        return self._registry.reports()

    def ended_reports(self) -> list[CollectorReport]:
        return self._registry.phone_records.drain_ended()

    def phone_seconds(self) -> dict[str, float]:
        return self._registry.phone_seconds()

    def states(self) -> dict[int, str]:
        return self._registry.states()

    # The thread ---------------------------------------------------------------------------------

    def _serve(self) -> None:
        """Serve the collectors until all of them have ended after `stop`."""
        try:
            while not self._registry.is_over():
                arrived = self._collectors.receive(RECEIVE_SECONDS)
                # all of them durable in one transaction; then each is acknowledged, or held back
                self._receiver.deliver_many(
                    [(data, self._noted(reply)) for data, reply in arrived.deliveries]
                )
                for info, heartbeat in arrived.heartbeats:
                    self._registry.heartbeat(info, heartbeat.report.in_flight, heartbeat)
                self._receiver.release(all_of_them=self._registry.stop_at is not None)
                self._collectors.look_after()
        finally:
            self._collectors.close()
            self._registry.close()

    def _noted(self, reply: Acknowledge) -> Acknowledge:
        def acknowledge(answer: Received | Refused) -> None:
            if isinstance(answer, Received):
                self._registry.delivered(answer.id.split("/")[0])  # its collector's name
            reply(answer)

        return acknowledge


def pace_of(learner: Learner) -> Pace:
    """Return which episodes may start under the learner's bound on staleness.

    This is the closed form of what `Learner.may_start` answers, for each age of the weights and
    number of episodes in flight.
    """
    limit = learner.settings.staleness.at_start
    if learner.settings.is_offline(learner.updates):
        return Pace(learner.version)
    if limit is None:
        return Pace(learner.version, free=True)
    due, per_insert = learner.pacing.expected_draws()
    rooms = (
        max_in_flight(
            limit - behind,
            draws_due=due,
            draws_per_insert=per_insert,
            draws_per_version=learner.settings.draws_per_version,
            draws_since_version=learner.draws_since_version,
        )
        for behind in range(limit + 1)
    )
    return Pace(learner.version, tuple(min(MAX_IN_FLIGHT, room) for room in rooms))
