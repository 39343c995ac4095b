"""What one call of `Collector.run` holds: its budget, and the episodes that can be advanced."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field

from distrl.episodes.collector_report import CollectorMetrics
from distrl.episodes.scheduler import EpisodeBudget
from distrl.records import Decision

Episodic = Iterator[Future[Decision]]  # the decisions that an episode waits for


@dataclass(slots=True)
class CollectorRun:
    """One call of `run`. Nothing is delivered once it is over."""

    budget: EpisodeBudget
    metrics: CollectorMetrics
    over: bool = False
    starting: threading.Lock = field(default_factory=threading.Lock)
    _changed: threading.Condition = field(default_factory=threading.Condition)  # guards the rest
    _ready: deque[tuple[Episodic, int]] = field(default_factory=deque)  # with their stage "queue"
    _all_ended: bool = False
    _dropped: bool = False

    def advance(self, episode: Episodic) -> None:
        """Go on to the next decision; when it is there, the episode is ready again."""
        decision = next(episode, None)
        if decision is not None:
            decision.add_done_callback(lambda _: self._is_ready(episode))

    def next_ready(self) -> Episodic | None:
        """Wait for an episode that can be advanced; None: there are no more."""
        with self._changed:
            while not (self._ready or self._all_ended or self._dropped):
                self._changed.wait()
            if not self._ready:
                return None
            episode, waiting = self._ready.popleft()
        self.metrics.end(waiting)
        return episode

    def end_workers(self) -> None:
        """Give None to all that wait for an episode, after those that are ready by now."""
        with self._changed:
            self._all_ended = True
            self._changed.notify_all()

    def drop(self) -> None:
        """Let go of the episodes that nobody will advance any more; there are no others later."""
        with self._changed:
            self._dropped = True
            while self._ready:
                self.metrics.end(self._ready.popleft()[1])
            self._changed.notify_all()

    def _is_ready(self, episode: Episodic) -> None:
        with self._changed:
            if not self._dropped:
                self._ready.append((episode, self.metrics.begin("queue")))
                self._changed.notify()
