"""Files of records, one JSON line each, that survive killed processes, full and faulty disks.

`append` passes a line to the operating system in one write before it returns, so that a killed
process loses no line. The file is synced when `SYNC_SECONDS` have passed at an `append`, and at
`close`. A half-written line is truncated: at the next opening after a killed process, at once on a
full disk. Readers skip a torn last line, since a writer may be in the middle of it; any other line
that is not a valid record is an error.

Lines are strict JSON: NaN and infinities become null. msgspec converts and checks the types. The
last key of a line is `crc32`, a checksum of the text before it: a line in which a disk flipped a
bit is an error, not another record. Lines without a checksum, of other writers, are read as well.
"""

from __future__ import annotations

import json
import os
import re
import time
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Self, TypeVar, cast

import msgspec

from distrl.errors import CorruptLog, storage_error

T = TypeVar("T")
SYNC_SECONDS = 5.0
CHECKSUM = re.compile(rb',"crc32":"([0-9a-f]{8})"\}')
# A checksum in which one byte of the key, or any of the digits, is damaged.
DAMAGED = re.compile(rb',"(?:.rc32|c.c32|cr.32|crc.2|crc3.)":"[^"]{8}"\}', re.DOTALL)
CHECKSUM_BYTES = 20


class LineLog:
    """A file open for appending, as a context manager. Only one process may write to it."""

    def __init__(self, path: Path, file: int) -> None:
        self.path = path
        self._file = file
        self._end = os.fstat(file).st_size
        self._synced = time.monotonic()

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a file to append to it, or create it; truncate a torn last line."""
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            os.ftruncate(file, end_of_last_line(file))
        except OSError as error:
            raise storage_error(error, f"opening {path} to write to it") from error
        return cls(path, file)

    def append(self, *records: Any) -> None:
        """Write records, all or none; once this returns, they survive a kill of this process."""
        lines = b"".join(map(encode_line, records))
        try:
            written = os.pwrite(self._file, lines, self._end)
            if written < len(lines):  # the disk became full: writing the rest raises
                os.pwrite(self._file, lines[written:], self._end + written)
        except OSError as error:
            os.ftruncate(self._file, self._end)
            raise storage_error(error, f"writing a line to {self.path}") from error
        self._end += len(lines)
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Wait until all appended lines are on the disk (fsync)."""
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

    def __exit__(self, *_: object) -> None:
        self.close()


def read_lines(path: Path, kind: type[T]) -> list[T]:
    """Return every whole line of a file as a record; an empty list if there is no file."""
    found = []
    for number, line in enumerate(whole_lines(path), start=1):
        try:
            found.append(decode_line(line, kind))
        except ValueError as error:
            shown = line[:100].decode(errors="replace")
            raise CorruptLog(
                f"{path}, line {number} is no {kind.__name__}: {error}: {shown!r}; if a disk "
                "damaged it, take the line out"
            ) from error
    return found


def whole_lines(path: Path) -> list[bytes]:
    """Return the lines of a file except a torn last one; an empty list if there is no file."""
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def encode_line(record: Any) -> bytes:
    """Encode a dataclass or plain value as one JSON line, with its checksum and newline."""
    try:
        line = msgspec.json.encode(record, enc_hook=_plain)
    except UnicodeEncodeError:  # a lone surrogate (from a model's answer, say): JSON can escape it
        text = json.dumps(msgspec.to_builtins(record, enc_hook=_plain))
        line = json.dumps(json.loads(text, parse_constant=lambda _: None)).encode()
    return _with_checksum(line) + b"\n"


def plain_json(value: Any) -> bytes:
    """Encode JSON that any reader accepts: a lone surrogate, which a model's answer may contain,
    becomes a question mark.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(value))
        finite = json.loads(text, parse_constant=lambda _: None)
        return json.dumps(finite, ensure_ascii=False).encode("utf-8", "replace")


def decode_line(line: bytes, kind: type[T]) -> T:
    """Decode the record on a line; raise `ValueError` if it is invalid."""
    line = _without_checksum(line.rstrip(b"\n"))
    try:
        found: T = _decoder(cast("Any", kind)).decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _decode_slowly(line, kind)
    return found


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def _decode_slowly(line: bytes, kind: type[T]) -> T:
    """Decode with `json`: five times slower, but it accepts lone surrogates and NaN; msgspec's own
    decoder does not.
    """
    try:
        plain = json.loads(line)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return msgspec.convert(plain, kind)


def _with_checksum(line: bytes) -> bytes:
    """Add the checksum as the last member; only to an object that has members."""
    if not line.endswith(b"}") or line == b"{}":
        return line
    return line[:-1] + b',"crc32":"%08x"}' % zlib.crc32(line[:-1])


def _without_checksum(line: bytes) -> bytes:
    found = CHECKSUM.fullmatch(line[-CHECKSUM_BYTES:])
    if found is None:
        if DAMAGED.fullmatch(line[-CHECKSUM_BYTES:]):
            raise ValueError("its checksum is damaged")
        return line
    body = line[:-CHECKSUM_BYTES]
    if zlib.crc32(body) != int(found[1], 16):
        raise ValueError("its checksum does not match")
    return body + b"}"


def _plain(value: object) -> object:
    """Convert types that msgspec does not know: NumPy floats, read-only mappings and counters."""
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON: {value!r}")


def end_of_last_line(file: int) -> int:
    """Return an open file's size without a torn last line; read from the end, for large files."""
    size = os.fstat(file).st_size
    place, step = size, 64 * 1024
    while place > 0:
        start = max(0, place - step)
        newline = os.pread(file, place - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        place = start
    return 0
