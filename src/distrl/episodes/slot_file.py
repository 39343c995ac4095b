"""A file of fixed slots, one for each phone of a collector: its state, and its screen as a JPEG.

Collectors write it below `RUN/live/` (`live_feed`), or the learner does for those whose disk it
does not share (`engine.ingest.live_relay`); `view.live_wall` reads it. Each slot has a checksum, so
that a reader needs no lock: a slot that is just being written is read again later. Nothing depends
on it; where the disk refuses it, it goes dark.
"""

from __future__ import annotations

import logging
import mmap
import os
import struct
import threading
import zlib
from dataclasses import dataclass
from pathlib import Path

HEADER = struct.Struct("<QQIII")  # changes, pictures, bytes of state and picture, their checksum
SLOT_BYTES = 16384
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Slot:
    """What a phone shows. Both counts grow with each change, the second with each picture."""

    changes: int
    pictures: int
    state: bytes  # JSON, a `live_feed.PhoneState`
    picture: bytes  # a JPEG; empty: there is none

    @property
    def fits(self) -> bool:
        return HEADER.size + len(self.state) + len(self.picture) <= SLOT_BYTES


class SlotFile:
    """The writer of such a file, which is made when something is first written. Thread-safe."""

    def __init__(self, path: Path, slots: int) -> None:
        self._path = path
        self._size = slots * SLOT_BYTES
        self._lock = threading.Lock()
        self._memory: mmap.mmap | None = None
        self.broken = False  # the disk has refused it, or it was closed

    def write(self, number: int, slot: Slot) -> None:
        content = slot.state + slot.picture
        counts = slot.changes, slot.pictures, len(slot.state), len(slot.picture)
        start = number * SLOT_BYTES
        with self._lock:
            memory = self._opened()
            if memory is not None and slot.fits and 0 <= start < self._size:
                header = HEADER.pack(*counts, zlib.crc32(content))
                memory[start : start + HEADER.size + len(content)] = header + content

    def close(self) -> None:
        """Release the memory; what was written stays, and gets old."""
        with self._lock:
            self.broken = True
            if self._memory is not None:
                self._memory.close()

    def _opened(self) -> mmap.mmap | None:
        if self._memory is None and not self.broken:
            try:
                file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                try:
                    os.posix_fallocate(file, 0, self._size)  # a full disk: an error, no SIGBUS
                    self._memory = mmap.mmap(file, self._size)
                finally:
                    os.close(file)
            except OSError as error:
                self.broken = True
                log.warning("nothing is shown live: %s", error)
        return None if self.broken else self._memory
