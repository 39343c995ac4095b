"""The state of one call of `Collector.run`: its budget and the queues of its threads."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from distrl.episodes.collector_report import CollectorMetrics
from distrl.episodes.scheduler import EpisodeBudget

T = TypeVar("T")
Episodic = Iterator[Future[Any]]  # an episode as a generator of the futures that it waits for


@dataclass(slots=True)
class WorkQueue(Generic[T]):
    """A FIFO queue of work for threads; each queued item counts as one slot in stage "queue"."""

    metrics: CollectorMetrics
    _waiting: deque[tuple[T, int]] = field(default_factory=deque)  # with the number of their timer
    _changed: threading.Condition = field(default_factory=threading.Condition)  # guards the rest
    _ended: bool = False
    _dropped: bool = False

    def put(self, works: Iterable[T]) -> None:
        with self._changed:
            if not self._dropped:
                new = [(each, self.metrics.begin("queue")) for each in works]
                self._waiting.extend(new)
                self._changed.notify(len(new))

    def next(self) -> T | None:
        """Wait for the next item; return None when there will be no more."""
        with self._changed:
            while not (self._waiting or self._ended or self._dropped):
                self._changed.wait()
            if not self._waiting:
                return None
            work, stage = self._waiting.popleft()
        self.metrics.end(stage)
        return work

    def end(self) -> None:
        """Let the queued work be taken, then return None from every `next`."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def drop(self) -> None:
        """Discard queued work, and whatever is put later."""
        with self._changed:
            self._dropped = True
            while self._waiting:
                self.metrics.end(self._waiting.popleft()[1])
            self._changed.notify_all()


@dataclass(slots=True)
class CollectorRun:
    """One call of `run`. Nothing is delivered once it is over."""

    budget: EpisodeBudget
    metrics: CollectorMetrics
    blocking: bool = False  # each device has a thread of its own
    over: bool = False
    _ready: WorkQueue[Episodic] = field(init=False)
    _undelivered: WorkQueue[tuple[Callable[[], None], Future[None]]] = field(init=False)

    def __post_init__(self) -> None:
        self._ready = WorkQueue(self.metrics)
        self._undelivered = WorkQueue(self.metrics)

    def start(self, episodes: Iterable[Episodic]) -> None:
        """Queue new episodes to be advanced, in this order."""
        self._ready.put(episodes)

    def advance_episodes(self) -> None:
        """Advance episodes that are ready until the queue has ended: the loop of its thread."""
        while (episode := self._ready.next()) is not None:
            self.advance(episode)

    def advance(self, episode: Episodic) -> None:
        """Run an episode to its next future; queue it again when that is done."""
        awaited = next(episode, None)
        if awaited is not None:
            awaited.add_done_callback(lambda _: self._ready.put((episode,)))

    def deliver(self, delivery: Callable[[], None]) -> Future[None]:
        """Call `delivery` in a thread that may block; the future is done afterwards."""
        delivered: Future[None] = Future()
        if self.blocking:
            delivery()
            delivered.set_result(None)
        else:
            self._undelivered.put(((delivery, delivered),))
        return delivered

    def deliver_queued(self) -> None:
        """Make queued deliveries until the queue has ended: the loop of their threads."""
        while (queued := self._undelivered.next()) is not None:
            delivery, delivered = queued
            delivery()
            delivered.set_result(None)

    def end_workers(self) -> None:
        """End the threads that advance and deliver, once their queues are empty."""
        self._ready.end()
        self._undelivered.end()

    def drop(self) -> None:
        """Discard queued episodes and deliveries, and whatever is queued later."""
        self._ready.drop()
        self._undelivered.drop()
