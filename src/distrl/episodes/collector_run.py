"""What one call of `Collector.run` holds: its budget, and the episodes that can be advanced."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

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
    _dropped: bool = False
    # Episodes to be advanced, each with the number of its stage "queue"; None: there are no more.
    _ready: SimpleQueue[tuple[Episodic, int] | None] = field(default_factory=SimpleQueue)

    def advance(self, episode: Episodic) -> None:
        """Go on to the next decision; when it is there, the episode is ready again."""
        decision = next(episode, None)
        if decision is not None:
            decision.add_done_callback(lambda _: self._is_ready(episode))

    def next_ready(self) -> Episodic | None:
        """Wait for an episode that can be advanced; None: there are no more."""
        found = self._ready.get()
        if found is None:
            return None
        episode, waiting = found
        self.metrics.end(waiting)
        return episode

    def end_workers(self, count: int) -> None:
        """Give None to so many that wait for an episode, after those that are ready by now."""
        for _ in range(count):
            self._ready.put(None)

    def drop(self) -> None:
        """Let go of the episodes that nobody will advance any more."""
        self._dropped = True
        with suppress(Empty):
            while True:
                found = self._ready.get_nowait()
                if found is not None:
                    self.metrics.end(found[1])

    def _is_ready(self, episode: Episodic) -> None:
        if not self._dropped:
            self._ready.put((episode, self.metrics.begin("queue")))
