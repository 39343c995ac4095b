"""The end of a segment that records are added to: all of a batch, on the disk, or nothing of it.

Whatever goes wrong on the way (a full disk, a broken one, Ctrl-C), the segment is cut back to where
it was. The trajectory store calls it, one thread at a time.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from distrl.replay.store.segment import PREAMBLE, preamble, seal

sync_file = getattr(os, "fdatasync", os.fsync)  # the times of a file may be lost, its length not

Draft = tuple[int, str, bytes]  # kind, id, body


class SegmentWriter:
    """Adds records to one segment. `end` is where the next one goes."""

    def __init__(self, path: Path, number: int, *, wait_for_disk: bool = True) -> None:
        self.path = path
        self.number = number
        self.end = 0
        self._wait_for_disk = wait_for_disk
        self._file = -1

    def create(self) -> None:
        """Begin the segment; one that cannot be begun leaves no file behind."""
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        try:
            self._write([preamble()])
        except OSError:
            self.remove()
            raise

    def create_or_go_on(self) -> None:
        """Begin the segment, or go on at the end of the one that is there, which must be good."""
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            self.create()
            return
        self.end = os.fstat(self._file).st_size
        if self.end < PREAMBLE.size:  # whoever began it was killed before it had begun
            self.end = 0
            self._write([preamble()])

    def cut(self, end: int) -> None:
        """Take off what stands behind `end`, and wait until the rest is on the disk.

        The preamble stays: a record that is added to a segment without one cannot be found again.
        """
        end = max(end, PREAMBLE.size)
        if end < self.end:
            os.ftruncate(self._file, end)
            self.end = end
        if self._wait_for_disk:
            sync_file(self._file)

    def add(self, drafts: Sequence[Draft]) -> list[tuple[int, int]]:
        """Write these records and wait for the disk; returns where each begins and ends."""
        places, sealed, offset = [], [], self.end
        for kind, record_id, body in drafts:
            sealed.append(seal(kind, record_id, body, self.number, offset))
            places.append((offset, offset + len(sealed[-1])))
            offset = places[-1][1]
        self._write(sealed)
        return places

    def close(self) -> None:
        """Let go of the file; without effect if it is not open."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def remove(self) -> None:
        self.close()
        self.path.unlink()

    def _write(self, pieces: Sequence[bytes]) -> None:
        offset, done = self.end, False
        try:
            for piece in pieces:
                rest = memoryview(piece)
                while rest:
                    written = os.pwrite(self._file, rest, offset)
                    rest, offset = rest[written:], offset + written
            if self._wait_for_disk:
                sync_file(self._file)
            done = True
        finally:
            if not done:  # also when it is no error of the disk that stops us
                with contextlib.suppress(OSError):
                    os.ftruncate(self._file, self.end)
        self.end = offset
