"""The collector processes of a run on this machine: the transport between them and the learner.

Implements `Collectors` (`run.collection`) by sockets. The rules for when a collector is killed,
replaced or given up are the registry's. A collector has ended when its connection has: by then all
that it had sent was read, also what it sent just before it was killed.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from distrl.engine.ingest.delivery import Acknowledge
from distrl.engine.ingest.messages import (
    Delivery,
    Encodings,
    Heartbeat,
    Message,
    Play,
    Played,
    Received,
    Refused,
    Stop,
)
from distrl.engine.local.collector_child import CollectorChild, Forkserver
from distrl.engine.local.synchronous_collection import Rounds
from distrl.engine.run.collection import Arrived
from distrl.engine.supervision.collector_registry import CollectorRegistry

PACE_SECONDS = 0.2  # between two messages about the pace


@dataclass(slots=True)
class CollectorPool:
    """Starts collector processes, reads from them, and sends them their orders.

    Without `rounds` collectors play without end. `on_encodings` gets what they have encoded to
    decide; without it they are not asked for that.
    """

    registry: CollectorRegistry
    forkserver: Forkserver
    rounds: Rounds | None = None
    on_encodings: Callable[[Encodings], None] | None = None
    clock: Callable[[], float] = time.monotonic
    _selector: selectors.DefaultSelector = field(default_factory=selectors.DefaultSelector)
    _children: dict[int, CollectorChild] = field(default_factory=dict)
    _paced: float = -float("inf")

    def receive(self, seconds: float) -> Arrived:
        arrived = Arrived([], [])
        for key, _ in self._selector.select(seconds):
            child: CollectorChild = key.data
            try:
                for message in child.link.receive_all():
                    self._take(child, message, arrived)
            except EOFError:
                self._selector.unregister(child.link)  # it has ended, or soon will
        return arrived

    def _take(self, child: CollectorChild, message: Message, arrived: Arrived) -> None:
        match message:
            case Delivery(encoded):
                arrived.deliveries.append((encoded, self._reply_to(child)))
            case Heartbeat():
                arrived.heartbeats.append((child.info, message))
            case Encodings() if self.on_encodings is not None:
                self.on_encodings(message)
            case Played() if self.rounds is not None:
                self.rounds.played(child.info.number)
            case _:
                raise TypeError(f"{child.info.name} sent a {type(message).__name__}")

    def _reply_to(self, child: CollectorChild) -> Acknowledge:
        def reply(answer: Received | Refused) -> None:
            if self.rounds is not None and isinstance(answer, Received):
                self.rounds.stored(child.info.number)
            child.send(answer)

        return reply

    def look_after(self) -> None:
        for info, trouble in self.registry.unresponsive():
            self._children[info.number].trouble = trouble
            self._children[info.number].kill()
        for child in list(self._children.values()):
            if not self._is_connected(child):
                self._bury(child)
        if self.registry.stop_at is None:
            self._start_due()
        now = self.clock()
        pace_is_due = now - self._paced >= PACE_SECONDS
        self._paced = now if pace_is_due else self._paced
        for child in self._children.values():
            self._send_orders(child, with_pace=pace_is_due)

    def _is_connected(self, child: CollectorChild) -> bool:
        return child.link.fileno() in self._selector.get_map()

    def _bury(self, child: CollectorChild) -> None:
        """It has ended: by itself, killed from outside or by us, or as it was told to."""
        del self._children[child.info.number]
        trouble = child.end()
        if child.told_to_stop:
            self.registry.deregister(child.info)
        else:
            self.registry.report_exit(child.info.number, trouble)

    def _start_due(self) -> None:
        due = self.registry.due()
        if due and self.forkserver.is_ready():
            for number in due:
                registration = self.registry.register(number)
                child = self.forkserver.start(self.registry.run, registration)
                self._selector.register(child.link, selectors.EVENT_READ, child)
                self._children[number] = child
                self._send_orders(child, with_pace=True)

    def _send_orders(self, child: CollectorChild, *, with_pace: bool) -> None:
        orders = self.registry.orders(child.info.number)
        if orders.finish_within is not None:
            if not child.told_to_stop:
                child.told_to_stop = True
                child.send(Stop(orders.finish_within))
            return
        if with_pace:
            child.send(orders.pace)
        current, tasks = self.rounds.owed(child.info.number) if self.rounds else (0, None)
        if child.round != current and tasks != 0:
            child.round = current
            child.send(Play(tasks, share_encodings=self.on_encodings is not None))

    def close(self) -> None:
        for child in self._children.values():
            child.end()
        self._children = {}
        self._selector.close()
