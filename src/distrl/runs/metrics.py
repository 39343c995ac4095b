"""Record the metrics of a run in `metrics.jsonl`, and in sinks such as TensorBoard.

`Metrics.begin` and `Metrics.resume` give the series one clock and one order: the clock of a resumed
run continues from the last valid point, and points after the checkpoint are marked as undone rather
than repeated. `metrics.jsonl` is authoritative; sinks are for viewing.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from distrl.errors import NotInstalled, storage_error
from distrl.json_lines import LineLog, read_lines
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import Point, Series


class MetricSink(Protocol):
    """Another receiver of the points, such as TensorBoard."""

    def add(self, point: Point) -> None: ...

    def close(self) -> None: ...


OnPoint = Callable[[Point], bool | None]


@dataclass(frozen=True, slots=True)
class CallbackSink:
    """Implements `MetricSink`: calls a function, and stops the run if that returns True."""

    call: OnPoint
    stop: Callable[[], None]

    def add(self, point: Point) -> None:
        if self.call(point):
            self.stop()

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
        """Start the metrics of a new run; its clock starts now."""
        return cls(LineLog.open(run.metrics), sinks, clock, clock())

    @classmethod
    def resume(
        cls,
        run: RunDirectory,
        updates: int,  # of the checkpoint
        sinks: Sequence[MetricSink] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> Self:
        """Continue from a checkpoint; the clock continues from the last valid point."""
        kept = [point for point in read_points(run.metrics) if point.updates <= updates]
        passed = kept[-1].seconds if kept else 0.0
        metrics = cls(LineLog.open(run.metrics), sinks, clock, clock() - passed)
        metrics.record("resumed", updates, {})
        return metrics

    @property
    def seconds(self) -> float:
        return self._clock() - self._started

    def record(self, series: Series, updates: int, figures: Mapping[str, float]) -> Point:
        """Record the current figures; they are in the file when this returns."""
        point = Point(series, updates, self.seconds, figures)
        self._log.append(point)
        for sink in self._sinks:
            sink.add(point)
        return point

    def close(self) -> None:
        for sink in self._sinks:
            sink.close()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_points(path: Path) -> list[Point]:
    """Return the valid points: without those that a resume has undone, and without its marks."""
    kept: list[Point] = []
    for point in read_lines(path, Point):
        if point.series == "resumed":
            kept = [each for each in kept if each.updates <= point.updates]
        else:
            kept.append(point)
    return kept


class TensorBoardSink:
    """Implements `MetricSink` by TensorBoard event files: `tensorboard --logdir runs`.

    Events are written by TensorBoard's own record writer, without torch, synchronously in the
    calling thread. Tags are series/name, the step is the number of updates.
    """

    def __init__(self, folder: Path, writer: Any) -> None:
        self._folder = folder
        self._writer = writer

    @classmethod
    def open(cls, folder: Path, *, resumed_at: int | None = None) -> Self:
        """Create an event file, and mark steps after `resumed_at` in older files as undone."""
        try:
            from tensorboard.compat.proto.event_pb2 import Event, SessionLog
            from tensorboard.summary.writer.record_writer import RecordWriter
        except ImportError as error:
            raise NotInstalled(
                "metrics go to TensorBoard as well, and it is not installed: pip install "
                "'distrl[learn]'"
            ) from error
        try:
            folder.mkdir(parents=True, exist_ok=True)
            number = len(list(folder.iterdir()))  # readers sort by name, also within a second
            when = f"{int(time.time())}.{number:04d}"
            name = f"events.out.tfevents.{when}.{socket.gethostname()}.{os.getpid()}"
            writer = RecordWriter((folder / name).open("xb"))
        except OSError as error:
            raise storage_error(error, f"making TensorBoard's file in {folder}") from error
        sink = cls(folder, writer)
        sink._write(Event(wall_time=time.time(), file_version="brain.Event:2"))
        if resumed_at is not None:
            start = SessionLog(status=SessionLog.START)
            sink._write(Event(step=resumed_at + 1, wall_time=time.time(), session_log=start))
        return sink

    def add(self, point: Point) -> None:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        values = [
            Summary.Value(tag=f"{point.series}/{name}", simple_value=figure)
            for name, figure in point.figures.items()
            if figure is not None
        ]
        if values:
            summary = Summary(value=values)
            self._write(Event(step=point.updates, wall_time=time.time(), summary=summary))

    def close(self) -> None:
        self._writer.close()

    def _write(self, event: Any) -> None:
        try:
            self._writer.write(event.SerializeToString())
            self._writer.flush()
        except OSError as error:
            raise storage_error(error, f"writing TensorBoard's file in {self._folder}") from error
