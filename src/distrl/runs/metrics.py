"""The figures of a run as it goes: to `metrics.jsonl`, and to whoever else should see them.

`Metrics.begin` and `Metrics.resume` give the series one clock and one order: a resumed run goes on
at the second where the last kept figure stood, and figures that came after the checkpoint are
marked as undone rather than repeated. The file is the truth; sinks are for looking.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from distrl.json_lines import LineLog, read_lines
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import Point, Series


class MetricSink(Protocol):
    """Somewhere else that figures go, such as TensorBoard."""

    def add(self, point: Point) -> None: ...

    def close(self) -> None: ...


class Metrics:
    """Takes down figures, as a context manager."""

    def __init__(
        self,
        log: LineLog,
        sinks: Sequence[MetricSink],
        clock: Callable[[], float],
        started: float,  # by the clock: when the run's own seconds were 0
    ) -> None:
        self._log = log
        self._sinks = sinks
        self._clock = clock
        self._started = started

    @classmethod
    def begin(
        cls,
        run: RunDirectory,
        sinks: Sequence[MetricSink] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> Self:
        """The metrics of a new run; its clock starts now."""
        return cls(LineLog.open(run.metrics), sinks, clock, clock())

    @classmethod
    def resume(
        cls,
        run: RunDirectory,
        updates: int,  # those of the checkpoint
        sinks: Sequence[MetricSink] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> Self:
        """Go on from a checkpoint; the clock goes on from the last figure that still holds."""
        kept = [point for point in read_points(run.metrics) if point.updates <= updates]
        passed = kept[-1].seconds if kept else 0.0
        metrics = cls(LineLog.open(run.metrics), sinks, clock, clock() - passed)
        metrics.record("resumed", updates, {})
        return metrics

    @property
    def seconds(self) -> float:
        """The run's own time."""
        return self._clock() - self._started

    def record(self, series: Series, updates: int, figures: Mapping[str, float]) -> None:
        """Take down figures of this moment; they are in the file when this returns."""
        point = Point(series, updates, self.seconds, figures)
        self._log.append(point)
        for sink in self._sinks:
            sink.add(point)

    def close(self) -> None:
        for sink in self._sinks:
            sink.close()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def read_points(path: Path) -> list[Point]:
    """The series as they hold: without what a resume has undone, and without the marks of it."""
    kept: list[Point] = []
    for point in read_lines(path, Point):
        if point.series == "resumed":
            kept = [each for each in kept if each.updates <= point.updates]
        else:
            kept.append(point)
    return kept
