"""The metrics of a run: to `metrics.jsonl`, and to sinks such as TensorBoard.

`Metrics.begin` and `Metrics.resume` give the series one clock and one order: a resumed run
continues at the second of the last point that still holds, and points after the checkpoint are
marked as undone rather than repeated. The file is the truth; sinks are for viewing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, Self

from distrl.json_lines import LineLog, read_lines
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import Point, Series


class MetricSink(Protocol):
    """Another receiver of the points, such as TensorBoard."""

    def add(self, point: Point) -> None: ...

    def close(self) -> None: ...


class Metrics:
    """Records points, as a context manager."""

    def __init__(
        self,
        log: LineLog,
        sinks: Sequence[MetricSink],
        clock: Callable[[], float],
        started: float,  # the clock's reading at second 0 of the run
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
        updates: int,  # of the checkpoint
        sinks: Sequence[MetricSink] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> Self:
        """Continue from a checkpoint; the clock continues from the last point that still holds."""
        kept = [point for point in read_points(run.metrics) if point.updates <= updates]
        passed = kept[-1].seconds if kept else 0.0
        metrics = cls(LineLog.open(run.metrics), sinks, clock, clock() - passed)
        metrics.record("resumed", updates, {})
        return metrics

    @property
    def seconds(self) -> float:
        """Seconds of the run."""
        return self._clock() - self._started

    def record(self, series: Series, updates: int, figures: Mapping[str, float]) -> None:
        """Record the current figures; they are in the file when this returns."""
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

    def __exit__(self, *_: object) -> None:
        self.close()


def read_points(path: Path) -> list[Point]:
    """The points that hold: without those that a resume has undone, and without its marks."""
    kept: list[Point] = []
    for point in read_lines(path, Point):
        if point.series == "resumed":
            kept = [each for each in kept if each.updates <= point.updates]
        else:
            kept.append(point)
    return kept
