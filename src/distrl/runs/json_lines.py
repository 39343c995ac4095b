"""Records in a file, one JSON line each: durable when written, readable whatever happened since.

A line is handed to the operating system in one piece before `append` returns, so that a killed
process loses none; it reaches the disk itself at the latest `SYNC_SECONDS` later, or at `close`.
What a killed process or a full disk left half-written is cut off: at the next opening, or at once.
Readers leave out a torn last line, since somebody may be writing it now; any other line that is no
such record is an error.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import time
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from distrl.config.typed_reader import read_record
from distrl.errors import CorruptLog, InvalidSetting, storage_error

T = TypeVar("T")
SYNC_SECONDS = 5.0


class LineLog:
    """A file open for appending, as a context manager. One process writes."""

    def __init__(self, path: Path, file: int) -> None:
        self.path = path
        self._file = file
        self._end = os.fstat(file).st_size
        self._synced = time.monotonic()

    @classmethod
    def open(cls, path: Path) -> Self:
        """Go on with a file, or begin one; a torn last line is cut off."""
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            os.ftruncate(file, _whole(file))
        except OSError as error:
            raise storage_error(error, f"opening {path} to write to it") from error
        return cls(path, file)

    def append(self, record: Any) -> None:
        """Write a frozen record; it outlives this process when this returns."""
        line = json.dumps(_plain(record), ensure_ascii=False, allow_nan=False).encode() + b"\n"
        try:
            written = os.pwrite(self._file, line, self._end)
            if written < len(line):  # the disk is full after a part of it: the next try says so
                os.pwrite(self._file, line[written:], self._end + written)
        except OSError as error:
            os.ftruncate(self._file, self._end)
            raise storage_error(error, f"writing a line to {self.path}") from error
        self._end += len(line)
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Wait until all of it is on the disk."""
        try:
            os.fsync(self._file)
        except OSError as error:
            raise storage_error(error, f"writing {self.path} to the disk") from error
        self._synced = time.monotonic()

    def close(self) -> None:
        if self._file >= 0:
            try:
                self.sync()
            finally:
                file, self._file = self._file, -1
                os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def read_lines(path: Path, kind: type[T]) -> list[T]:
    """Every whole line of a file as a record; none where there is no file."""
    if not path.exists():
        return []
    *lines, _torn = path.read_bytes().split(b"\n")
    return [_read(path, number, line, kind) for number, line in enumerate(lines, start=1)]


def _read(path: Path, number: int, line: bytes, kind: type[T]) -> T:
    place = f"{path}, line {number}"
    try:
        return read_record(kind, json.loads(line), place)
    except (ValueError, InvalidSetting) as error:
        raise CorruptLog(
            f"{place} is no {kind.__name__}: {error}; if a disk damaged it, take the line out"
        ) from error


def _whole(file: int) -> int:
    """Where the last whole line ends."""
    size = os.fstat(file).st_size
    place, step = size, 64 * 1024
    while place > 0:
        start = max(0, place - step)
        newline = os.pread(file, place - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        place = start
    return 0


def _plain(value: Any) -> Any:
    """As JSON has it: strictly, so a number that is none becomes null."""
    if dataclasses.is_dataclass(value):
        names = (field.name for field in dataclasses.fields(value))
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
