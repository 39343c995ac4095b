"""The learner's next batch, made ready in a thread while the current step computes.

The learner's own thread draws it (`start`), one step ahead: priorities that the current update
changes and trajectories that arrive during it count from the draw after that. The thread makes the
rest: rewards, for which screens are unpacked; arrays; and by `prepare` what the policy can keep of
the batch's observations, its encodings say, so that the step itself needs no pixels. Where a GPU
has no memory left for that, the step computes what is missing.

A batch counts as drawn when the learner takes it, not before: one that was made ready and never
trained on is in no account and in no checkpoint.
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
    """Makes one batch ready at a time."""

    def __init__(self, prepare: Prepare | None = None) -> None:
        self.preparations = 0  # begun, and ended: odd while one goes on
        self._prepare = prepare
        self._thread = ThreadPoolExecutor(1, "prefetch")
        self._next: Future[ReadyBatch] | None = None

    def start(self, draws: list[Draw], builder: BatchBuilder) -> None:
        """Make a batch of these draws ready, in place of any that was not taken."""
        self._next = self._thread.submit(self._make, draws, builder)

    def take(self) -> ReadyBatch | None:
        """The batch that was started last, waited for; None: none was. Raises what failed."""
        started, self._next = self._next, None
        return None if started is None else started.result()

    def _make(self, draws: list[Draw], builder: BatchBuilder) -> ReadyBatch:
        ready = builder.ready(draws)
        if self._prepare is not None:
            batch = ready.batch
            cut_off = batch.bootstrap.nonzero().flatten().tolist()  # their last screens count
            seen = [turn.observation for turn in batch.turns]
            self.preparations += 1
            try:
                self._prepare([*seen, *(batch.finals[row] for row in cut_off)])
            except torch.cuda.OutOfMemoryError as error:
                log.info("the next batch is not prepared, for want of memory: %s", error)
            finally:
                self.preparations += 1
        return ready
