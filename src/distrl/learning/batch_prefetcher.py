"""Builds the learner's next batch in a background thread while the current step computes.

The learner's own thread draws the trajectories (`start`), one step ahead: priorities that the
current update changes, and trajectories that arrive during it, take effect one draw later. The
background thread does the rest: it computes rewards (which decompresses screens), builds arrays,
and calls `prepare` so that the policy can cache encodings of the observations; the step then needs
no pixels. If a GPU has no memory left for that, the step computes what is missing.

Draws are counted when the learner trains on them, not before: a prefetched batch that was never
used appears in no counter and in no checkpoint.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import torch

from distrl.learning.batch_builder import BatchBuilder, ReadyBatch
from distrl.records import Observation
from distrl.replay.buffer.entries import Draw

Prepare = Callable[[Sequence[Observation]], None]

log = logging.getLogger(__name__)


class BatchPrefetcher:
    """Prefetches one batch at a time."""

    def __init__(self, prepare: Prepare | None = None) -> None:
        self.preparations = 0  # incremented at begin and end: odd while one is running
        self._prepare = prepare
        self._thread = ThreadPoolExecutor(1, "prefetch")
        self._next: Future[ReadyBatch] | None = None

    def start(self, draws: list[Draw], builder: BatchBuilder) -> None:
        """Start to build a batch from these draws; replaces one that was not taken."""
        self._next = self._thread.submit(self._make, draws, builder)

    def take(self) -> ReadyBatch | None:
        """Wait for the batch that was started last and return it; None if none was started.

        An error of the background thread is raised here.
        """
        started, self._next = self._next, None
        return None if started is None else started.result()

    def _make(self, draws: list[Draw], builder: BatchBuilder) -> ReadyBatch:
        ready = builder.ready(draws)
        if self._prepare is not None:
            batch = ready.batch
            cut_off = batch.bootstrap.nonzero().flatten().tolist()  # their last screens are scored
            seen = [turn.observation for turn in batch.turns]
            self.preparations += 1
            try:
                self._prepare([*seen, *(batch.finals[row] for row in cut_off)])
            except torch.cuda.OutOfMemoryError as error:
                log.info("the next batch is not prepared, for want of memory: %s", error)
            finally:
                self.preparations += 1
        return ready
