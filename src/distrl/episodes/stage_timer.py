"""Measures seconds by stage, summed over everything that is in it, also while it still runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

S = TypeVar("S", bound=str)


class StageTimer(Generic[S]):
    """Measures named stages by `clock`. Thread-safe; intervals in progress count up to now."""

    def __init__(
        self, stages: Iterable[S] = (), clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._spent: dict[S, float] = dict.fromkeys(stages, 0.0)
        self._under_way: dict[int, tuple[S, int, float]] = {}  # stage, count, start time
        self._begun = 0

    @contextmanager
    def at(self, stage: S, count: int = 1) -> Iterator[None]:
        """Measure the context's time in this stage, multiplied by `count`."""
        number = self.begin(stage, count)
        try:
            yield
        finally:
            self.end(number)

    def until(self, awaited: Future[Any], stage: S) -> None:
        """Measure one until `awaited` is done."""
        number = self.begin(stage)
        awaited.add_done_callback(lambda _: self.end(number))

    def add(self, stage: S, seconds: float) -> None:
        """Add seconds that were measured elsewhere."""
        with self._lock:
            self._spent[stage] = self._spent.get(stage, 0.0) + seconds

    def spent(self) -> dict[S, float]:
        """Return the seconds so far, by stage."""
        with self._lock:
            now, spent = self._clock(), dict(self._spent)
            for stage, count, begun in self._under_way.values():
                spent[stage] = spent.get(stage, 0.0) + count * (now - begun)
            return spent

    def begin(self, stage: S, count: int = 1) -> int:
        """Measure `count` until any thread calls `end` with the returned number."""
        with self._lock:
            self._begun += 1
            self._under_way[self._begun] = stage, count, self._clock()
            return self._begun

    def end(self, number: int) -> None:
        with self._lock:
            stage, count, begun = self._under_way.pop(number)
            seconds = count * (self._clock() - begun)
            self._spent[stage] = self._spent.get(stage, 0.0) + seconds
