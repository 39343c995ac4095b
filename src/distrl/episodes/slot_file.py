"""A memory-mapped file with a fixed slot for each phone: its state, and its screen as a JPEG.

Collectors write it in `RUN/live/` (`live_feed`); for collectors on another disk the learner does
(`engine.ingest.live_relay`). `view.live_wall` reads it. Each slot has a checksum, so readers need
no lock: a slot that is being written fails the check and is read again later. Nothing depends on
it; if the disk refuses writes, it stops.
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

HEADER = struct.Struct("<QQIII")  # changes, pictures, bytes of state and of picture, CRC-32
SLOT_BYTES = 16384
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Slot:
    """What a phone shows. `changes` grows with each change, `pictures` with each new picture."""

    changes: int
    pictures: int
    state: bytes  # JSON, a `live_feed.PhoneState`
    picture: bytes  # a JPEG; empty: there is none

    @property
    def fits(self) -> bool:
        return HEADER.size + len(self.state) + len(self.picture) <= SLOT_BYTES


class SlotFile:
    """The writer of such a file, which is created at the first write. Thread-safe."""

    def __init__(self, path: Path, slots: int) -> None:
        self._path = path
        self._size = slots * SLOT_BYTES
        self._lock = threading.Lock()
        self._memory: mmap.mmap | None = None
        self.broken = False  # True after a failed write or `close`

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
        """Unmap the file; what was written stays in it."""
        with self._lock:
            self.broken = True
            if self._memory is not None:
                self._memory.close()

    def _opened(self) -> mmap.mmap | None:
        if self._memory is None and not self.broken:
            try:
                file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                try:
                    os.posix_fallocate(file, 0, self._size)  # a full disk raises here: no SIGBUS
                    self._memory = mmap.mmap(file, self._size)
                finally:
                    os.close(file)
            except OSError as error:
                self.broken = True
                log.warning("nothing is shown live: %s", error)
        return None if self.broken else self._memory
