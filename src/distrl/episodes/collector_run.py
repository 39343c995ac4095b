"""What one call of `Collector.run` holds: its budget, and the episodes that can be advanced."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue

from distrl.episodes.scheduler import EpisodeBudget
from distrl.records import Decision

Episodic = Iterator[Future[Decision]]  # the decisions that an episode waits for


@dataclass(slots=True)
class CollectorRun:
    """One call of `run`. Nothing is delivered once it is over."""

    budget: EpisodeBudget
    over: bool = False
    ready: SimpleQueue[Episodic | None] = field(default_factory=SimpleQueue)  # to be advanced
    starting: threading.Lock = field(default_factory=threading.Lock)

    def advance(self, episode: Episodic) -> None:
        """Go on to the next decision; when it is there, the episode is ready again."""
        decision = next(episode, None)
        if decision is not None:
            decision.add_done_callback(lambda _: self.ready.put(episode))
