"""One file of the trajectory store: sealed records one after the other, added only at its end.

A segment begins with a preamble of 16 bytes (magic, version, checksum), then come records:

    marker 4 · kind 1 · – 1 · id length 2 · body length 8 · body seal 16 · head seal 8 · id · body

The body's seal is a digest of the body; the head's seal is one of everything before it, of the id,
and of the place of the record (segment, offset), so that nothing inside a body can pass for a
record. A record counts only when it is there to its last byte and both seals are right. `kind` 1
is a trajectory, 2 a note of dropped ids, 3 a correction of a trajectory by its id; whoever reads
passes over kinds that it does not know, so that more can be added without a new format.

`walk` goes from record to record. What cannot be read is a `Damage`, and the walk goes on at the
next record that can. The end of a segment that somebody may be writing to is different: bytes that
no good record follows may be a record on its way, so the walk just stops before them.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from distrl.errors import CorruptRecord

MAGIC, VERSION = b"DISTRLTS", 1
PREAMBLE = struct.Struct("<8sHHI")
MARKER = b"\xd1RL\x0a"
HEAD = struct.Struct("<4sBxHQ16s")
PLACE = struct.Struct("<QQ")
HEAD_SEAL = 8
MAX_ID = 2**16 - 1  # bytes
FIRST_LOOK = 512  # bytes; enough for a head with its id
SEARCH_BYTES = 2**20
TRAJECTORY, DROPPED, CORRECTION = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Record:
    """A record and where it is. `body` is None where only heads are read."""

    kind: int
    id: str
    offset: int
    end: int
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes of a store that could not be read, and were passed over."""

    segment: int
    offset: int
    length: int
    reason: str

    @property
    def end(self) -> int:
        return self.offset + self.length

    def __str__(self) -> str:
        return f"segment {self.segment}, bytes {self.offset} to {self.end}: {self.reason}"


def preamble() -> bytes:
    """What a segment begins with."""
    start = PREAMBLE.pack(MAGIC, VERSION, 0, 0)[:-4]
    return start + zlib.crc32(start).to_bytes(4, "little")


def seal(kind: int, record_id: str, body: bytes, segment: int, offset: int) -> bytes:
    """A record, ready to be written at that place and nowhere else."""
    name = record_id.encode("utf-8", "surrogatepass")
    head = HEAD.pack(MARKER, kind, len(name), len(body), _digest(body, 16))
    return b"".join((head, _head_seal(head, name, segment, offset), name, body))


def sealed_bytes(record_id: str, body: bytes) -> int:
    """How many bytes `seal` makes of them."""
    name = record_id.encode("utf-8", "surrogatepass")
    return HEAD.size + HEAD_SEAL + len(name) + len(body)


def _digest(data: bytes, size: int) -> bytes:
    return hashlib.blake2b(data, digest_size=size).digest()


def _head_seal(head: bytes, name: bytes, segment: int, offset: int) -> bytes:
    return _digest(PLACE.pack(segment, offset) + head + name, HEAD_SEAL)


class Segment:
    """A segment, open for reading. It may grow meanwhile."""

    def __init__(self, path: Path, number: int) -> None:
        self.path = path
        self.number = number
        self._file = -1

    def __enter__(self) -> Self:
        self._file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._file)
        self._file = -1

    @property
    def size(self) -> int:
        return os.fstat(self._file).st_size

    def walk(
        self, start: int = 0, *, final: bool = True, bodies: bool = True
    ) -> Iterator[Record | Damage]:
        """What is there from `start` on; `final`: nobody writes to it any more.

        Without `bodies` only heads are read, and damage inside a body goes unnoticed.
        """
        offset = start
        if offset < PREAMBLE.size:
            yield from self._check_preamble(final)
            offset = PREAMBLE.size
        while offset < self.size:
            record = self._record(offset, bodies)
            following = None if record else self._search(offset, bodies)
            if record is None and following is not None:
                # What a good record follows is written for good; it was on its way just now.
                record = self._record(offset, bodies)
            if record is not None:
                yield record
                offset = record.end
            elif following is not None:
                yield self._damage(offset, following, "a damaged record")
                offset = following
            else:
                if final:
                    yield self._damage(offset, self.size, "a torn end")
                return

    def record(self, offset: int) -> Record | None:
        """The record at that place; None if there is no good one."""
        return self._record(offset, bodies=True)

    def _damage(self, start: int, end: int, reason: str) -> Damage:
        return Damage(self.number, start, end - start, reason)

    def _check_preamble(self, final: bool) -> Iterator[Damage]:
        found = os.pread(self._file, PREAMBLE.size, 0)
        if found == preamble():
            return
        whole = len(found) == PREAMBLE.size
        if whole and zlib.crc32(found[:-4]) == int.from_bytes(found[-4:], "little"):
            magic, version, _, _ = PREAMBLE.unpack(found)
            raise CorruptRecord(
                f"{self.path} begins with {magic!r} and version {version}, this reads {MAGIC!r} "
                f"and {VERSION}; read it with the version of distrl that wrote it"
            )
        if whole or (found and final):
            yield self._damage(0, len(found), "a damaged preamble")

    def _record(self, offset: int, bodies: bool) -> Record | None:
        head = self._head(offset)
        if head is None:
            return None
        kind, name, body_start, end, body_seal = head
        if end > self.size:
            return None
        if not bodies:
            return Record(kind, name, offset, end, None)
        body = os.pread(self._file, end - body_start, body_start)
        if _digest(body, 16) != body_seal:
            return None
        return Record(kind, name, offset, end, body)

    def _head(self, offset: int) -> tuple[int, str, int, int, bytes] | None:
        """Kind, id, where the body starts and ends, and its seal; None if there is no good head."""
        look = os.pread(self._file, FIRST_LOOK, offset)
        if len(look) < HEAD.size + HEAD_SEAL or not look.startswith(MARKER):
            return None
        _, kind, id_length, body_length, body_seal = HEAD.unpack_from(look)
        name_start = HEAD.size + HEAD_SEAL
        body_start = name_start + id_length
        if len(look) < body_start:
            look = os.pread(self._file, body_start, offset)
        name = look[name_start:body_start]
        expected = _head_seal(look[: HEAD.size], name, self.number, offset)
        if look[HEAD.size : name_start] != expected:
            return None
        text = name.decode("utf-8", "surrogatepass")
        return kind, text, offset + body_start, offset + body_start + body_length, body_seal

    def _search(self, damaged: int, bodies: bool) -> int | None:
        """Where the next good record begins after one that is not; None if there is none."""
        head = self._head(damaged)
        if head is not None:  # the length is sure; the next one is right behind
            _, _, _, end, _ = head
            if self._record(end, bodies):
                return end
        start = damaged + 1
        while chunk := os.pread(self._file, SEARCH_BYTES, start):
            place = chunk.find(MARKER)
            while place >= 0:
                if self._record(start + place, bodies):
                    return start + place
                place = chunk.find(MARKER, place + 1)
            if len(chunk) < len(MARKER):
                return None
            start += len(chunk) - len(MARKER) + 1  # a marker may lie across the border
        return None
