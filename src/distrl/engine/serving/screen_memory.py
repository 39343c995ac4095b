"""Screens from a collector to the policy process of its machine, through shared memory.

A collector copies the packed screens of an observation into its `ScreenMemory`, an anonymous file
(memfd) whose descriptor it passes over the connection. The server reads them there (`ScreenView`);
the request itself carries only an offset, and the size and content address of each screen. So a
screen is unpacked only when its pixels are needed, and never hashed or packed again. A region is
reused once its request was answered, so the file holds one region for each request in flight. The
file may grow but is sealed against shrinking, so that no reader faults. The kernel frees it when
both sides have closed it, however they ended.

`multiprocessing.shared_memory` was weighed: its segments have names, which outlive a process that
is killed, and its resource tracker removes a segment when any process that attached it ends.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import threading
import weakref
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from distrl.errors import UsageError
from distrl.replay.compressed_screen import CompressedScreen

Bytes = NDArray[np.uint8]
SMALLEST = 1 << 16  # bytes of a region; sizes are powers of two from there
LARGEST_SIDE = 1 << 14  # pixels


class WrittenScreen(NamedTuple):
    """What describes a packed screen in the shared memory, except its offset."""

    nbytes: int
    height: int
    width: int
    address: str  # digest of its content; not verified, since both sides are of one user


def written(screen: CompressedScreen) -> WrittenScreen:
    return WrittenScreen(len(screen.packed), screen.height, screen.width, screen.address)


class ScreenMemory:
    """The collector's side. Any thread may write. Closed when it is garbage-collected."""

    def __init__(self) -> None:
        flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
        self._descriptor = os.memfd_create("screens", flags)
        self.close = weakref.finalize(self, os.close, self._descriptor)
        fcntl.fcntl(self._descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        self._free: defaultdict[int, list[int]] = defaultdict(list)  # offsets, by size
        self._mapped: Bytes = np.empty(0, np.uint8)
        self._lock = threading.Lock()

    def fileno(self) -> int:
        return self._descriptor

    @property
    def nbytes(self) -> int:
        return len(self._mapped)

    def write(self, screens: Sequence[CompressedScreen]) -> tuple[int, int]:
        """Copy these screens, one after the other; return offset and size of their region."""
        wanted = sum(len(screen.packed) for screen in screens)
        size = max(SMALLEST, 1 << (wanted - 1).bit_length())
        with self._lock:
            offset = self._free[size].pop() if self._free[size] else self._grow(size)
            mapped = self._mapped
        at = offset
        for screen in screens:
            end = at + len(screen.packed)
            mapped[at:end] = np.frombuffer(screen.packed, np.uint8)
            at = end
        return offset, size

    def release(self, offset: int, size: int) -> None:
        """Mark a region as free for reuse."""
        with self._lock:
            self._free[size].append(offset)

    def _grow(self, size: int) -> int:
        offset = len(self._mapped)
        os.ftruncate(self._descriptor, offset + size)
        self._mapped = np.frombuffer(mmap.mmap(self._descriptor, offset + size), np.uint8)
        return offset


class ScreenView:
    """The server's side of a `ScreenMemory`; it owns the file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.close = weakref.finalize(self, os.close, descriptor)
        self._mapped: Bytes = np.empty(0, np.uint8)
        if not fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK:
            self.close()
            raise UsageError(
                "a collector passed shared memory that is not sealed against shrinking; is the "
                "other side a distrl of this version?"
            )

    def read(self, offset: int, written: Sequence[WrittenScreen]) -> tuple[CompressedScreen, ...]:
        """Copy the screens that were written there, still packed."""
        screens, at = [], offset
        for nbytes, height, width, address in written:
            sides = 0 < height <= LARGEST_SIDE and 0 < width <= LARGEST_SIDE
            if not (sides and nbytes > 0 and at >= 0):
                raise UsageError(
                    f"a screen of {width}x{height} in {nbytes} bytes at {at}; this is no request "
                    "of ours"
                )
            packed = self._bytes(at, at + nbytes).tobytes()
            screens.append(CompressedScreen(packed, height, width, address))
            at += nbytes
        return tuple(screens)

    def _bytes(self, start: int, end: int) -> Bytes:
        if end > len(self._mapped):
            length = os.fstat(self._descriptor).st_size
            if end > length:
                raise UsageError(
                    f"a screen up to byte {end} of {length}; this is no request of ours"
                )
            mapped = mmap.mmap(self._descriptor, length, prot=mmap.PROT_READ)
            self._mapped = np.frombuffer(mapped, np.uint8)
        return self._mapped[start:end]
