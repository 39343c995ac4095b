"""Metrics as TensorBoard's event files: `tensorboard --logdir runs`.

Written with TensorBoard's own records, without torch, at once and in this thread.
"""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any, Self

from distrl.errors import NotInstalled, storage_error
from distrl.runs.run_records import Point


class TensorBoardSink:
    """One event file; figures are tagged series/name, their step is the number of updates."""

    def __init__(self, folder: Path, writer: Any) -> None:
        self._folder = folder
        self._writer = writer

    @classmethod
    def open(cls, folder: Path, *, resumed_at: int | None = None) -> Self:
        """A new file. Steps after `resumed_at` in older files are marked as undone."""
        try:
            from tensorboard.compat.proto.event_pb2 import Event, SessionLog
            from tensorboard.summary.writer.record_writer import RecordWriter
        except ImportError as error:
            raise NotInstalled(
                "metrics go to TensorBoard as well, and it is not installed: pip install "
                "'distrl[learn]'"
            ) from error
        name = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
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
