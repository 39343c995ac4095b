"""A rate limit and a cost limit for requests to a judge, shared by many threads.

After a burst, one request is granted every `60 / requests_per_minute` seconds, in order of arrival.
Cost is added after each answer. `take` raises `JudgeError` once `max_cost` is reached, and in
threads that are waiting when the budget is closed.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from distrl.bounds import Bounds, Checked
from distrl.errors import JudgeError


@dataclass(frozen=True, slots=True)
class BudgetSettings(Checked):
    """The limits; by default there are none."""

    requests_per_minute: Annotated[float, Bounds(0.0, unit="requests", open=True)] = math.inf
    burst: Annotated[int, Bounds(1, unit="requests at once after a pause")] = 1
    max_cost: Annotated[float, Bounds(0.0, unit="in the currency of the prices")] = math.inf


class RateBudget:
    """Grants requests. `sleep` returns True if it was interrupted by `close`."""

    def __init__(
        self,
        settings: BudgetSettings | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], bool] | None = None,
    ) -> None:
        self.settings = settings or BudgetSettings()
        self.cost = 0.0
        self.requests = 0
        self._clock = clock
        self._closing = threading.Event()
        self._sleep = sleep or self._closing.wait
        self._lock = threading.Lock()
        self._next = -math.inf  # time of the next grant at a steady rate, without bursts

    def take(self) -> float:
        """Wait for a grant; return the seconds waited."""
        with self._lock:
            self._check_cost()
            now = self._clock()
            apart = 60.0 / self.settings.requests_per_minute
            turn = max(self._next, now - (self.settings.burst - 1) * apart)
            self._next = turn + apart
            self.requests += 1
        wait_s = max(0.0, turn - now)
        if (wait_s and self._sleep(wait_s)) or self._closing.is_set():
            raise JudgeError("the judge was closed before it could be asked")
        return wait_s

    def close(self) -> None:
        """Interrupt all waiting threads."""
        self._closing.set()

    def spend(self, cost: float) -> None:
        with self._lock:
            self.cost += cost

    def _check_cost(self) -> None:
        if self.cost >= self.settings.max_cost:
            raise JudgeError(
                f"the judge's budget is spent: {self.cost:g} of {self.settings.max_cost:g} after "
                f"{self.requests} requests; raise max_cost, and `distrl rescore` what has no "
                "verdict"
            )
