"""One simulated copy of the policy, with the rules of `episodes.policy_batcher`.

All waiting requests are answered together, oldest first, at most `most`. It waits for a fuller
batch for at most `max_wait_seconds`, never longer than its last batch took, and not at all when
every present episode has asked. New weights are loaded between two batches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import islice

import numpy as np

from distrl.planning.draw_pool import DrawPool, of_seconds
from distrl.planning.event_queue import EventQueue, Level
from distrl.planning.plan_settings import PolicyPlan
from phonesim.latency import LogNormal


def batch_seconds(plan: PolicyPlan) -> list[float]:
    """Mean seconds of a batch, by its size."""
    sizes = np.arange(plan.most + 1)
    seconds = np.interp(sizes, plan.batch_sizes, plan.batch_seconds)
    if len(plan.batch_sizes) > 1:  # extrapolate linearly beyond the last size
        (before, last), (low, high) = plan.batch_sizes[-2:], plan.batch_seconds[-2:]
        seconds += np.maximum(0, sizes - last) * (high - low) / (last - before)
    return [float(each) for each in np.maximum(0.0, seconds)]


class PlannedBatcher:
    """Decides for the phones of one copy, and calls `answered` for each of them."""

    def __init__(
        self,
        number: int,
        plan: PolicyPlan,
        events: EventQueue,
        busy: Level,  # number of busy copies, over all batchers
        answered: Callable[[int, int], None],  # a phone and the weight version
        seed: int,
    ) -> None:
        self.number = number
        self.version = 0
        self.batches = 0
        self.decisions = 0
        self.present = 0  # episodes that may ask
        self._plan = plan
        self._events = events
        self._busy = busy
        self._answered = answered
        self._seconds = batch_seconds(plan)
        self._spread: DrawPool = of_seconds(LogNormal(1.0, plan.log_sd), f"batch/{number}", seed)
        self._questions: deque[int] = deque()
        self._working = False
        self._gathering = 0  # number of the batch that it waits to fill; 0: none
        self._gathered = 0
        self._last_seconds = 0.0
        self._newest = 0

    def enter(self) -> None:
        self.present += 1

    def leave(self) -> None:
        """An episode is over; if no other can ask, the batch begins now."""
        self.present -= 1
        if self._gathering and len(self._questions) >= self._hoped_for:
            self._begin()

    def ask(self, phone: int) -> None:
        self._questions.append(phone)
        if self._working:
            return
        if not self._gathering:
            self._gather()
        elif len(self._questions) >= self._hoped_for:
            self._begin()

    def update_weights(self, version: int) -> None:
        """Take over new weights at once, or after the current batch."""
        self._newest = max(self._newest, version)
        if not self._working:
            self.version = self._newest

    @property
    def _hoped_for(self) -> int:
        return min(self._plan.most, self.present)

    def _gather(self) -> None:
        max_wait = min(self._plan.max_wait_seconds, self._last_seconds)
        if max_wait <= 0.0 or len(self._questions) >= self._hoped_for:
            self._begin()
            return
        self._gathered += 1
        self._gathering = self._gathered
        self._events.after(max_wait, self._wait_is_over, self._gathering)

    def _wait_is_over(self, batch: int) -> None:
        if self._gathering == batch:
            self._begin()

    def _begin(self) -> None:
        self._gathering = 0
        self._working = True
        self._busy.add(1)
        batch = list(islice(self._questions, self._plan.most))
        for _ in batch:
            self._questions.popleft()
        self._last_seconds = self._seconds[len(batch)] * self._spread.draw()
        self._events.after(self._last_seconds, self._end, batch)

    def _end(self, batch: list[int]) -> None:
        self.batches += 1
        self.decisions += len(batch)
        for phone in batch:
            self._answered(phone, self.version)
        if self._newest > self.version:
            self.version = self._newest
            self._events.after(self._plan.swap_seconds, self._rest)
        else:
            self._rest()

    def _rest(self) -> None:
        self._working = False
        self._busy.add(-1)
        if self._questions:
            self._gather()
        elif self._newest > self.version:
            self.version = self._newest
