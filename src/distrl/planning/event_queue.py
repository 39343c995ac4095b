"""The event queue of a discrete-event simulation, and levels integrated over simulated time.

Events at the same time run in the order in which they were scheduled, so that a simulation is an
exact function of its settings and its seed.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

Action = Callable[..., None]


class EventQueue:
    """Scheduled calls, in order of time."""

    __slots__ = ("_asked", "_heap", "happened", "now")

    def __init__(self) -> None:
        self.now = 0.0
        self.happened = 0
        self._asked = 0
        self._heap: list[tuple[float, int, Action, tuple[Any, ...]]] = []

    def after(self, seconds: float, action: Action, *what: Any) -> None:
        """Schedule a call `seconds` from now."""
        if not seconds >= 0.0:
            raise ValueError(f"an event {seconds!r} seconds from now")
        self._asked += 1
        heapq.heappush(self._heap, (self.now + seconds, self._asked, action, what))

    def run(self, until: float, most: int) -> bool:
        """Run events until the given time; False if `most` events in all were reached first."""
        heap, pop = self._heap, heapq.heappop
        while heap and heap[0][0] <= until:
            if self.happened >= most:
                return False
            self.now, _, action, what = pop(heap)
            self.happened += 1
            action(*what)
        self.now = until
        return True


class Level:
    """A number that changes over time, and its integral."""

    __slots__ = ("_clock", "_sum", "_time", "value")

    def __init__(self, clock: EventQueue) -> None:
        self.value = 0
        self._clock = clock
        self._sum = 0.0
        self._time = 0.0

    def add(self, change: int) -> None:
        now = self._clock.now
        self._sum += self.value * (now - self._time)
        self._time = now
        self.value += change

    @property
    def total(self) -> float:
        """Level times seconds, up to now."""
        return self._sum + self.value * (self._clock.now - self._time)
