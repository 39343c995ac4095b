"""A lock on a directory for one writer at a time; the kernel releases it when the process dies.

It is flock(2) on a file in the directory, so a killed process leaves no lock behind. The file stays
and names the last holder and its machine. Forked children close it: otherwise a collector that
outlives its learner would lock the restarted learner out. Trajectory stores and run directories use
it.
"""

from __future__ import annotations

import fcntl
import os
import socket
import weakref
from pathlib import Path

from distrl.errors import DirectoryInUse

NAME = "writer.lock"


class DirectoryLock:
    """A lock, held from `acquire` to `release`. Locks of different names are independent."""

    def __init__(self, directory: Path, name: str = NAME) -> None:
        self.directory = directory
        self._name = name
        self._file: int | None = None

    def acquire(self) -> None:
        """Take the lock without waiting, or raise `DirectoryInUse`."""
        file = os.open(self.directory / self._name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(file, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(file)
            raise DirectoryInUse(
                f"{self.directory} is in use: process {holder} writes to it; wait for that run to "
                "end or stop it, or give this run a directory of its own"
            ) from None
        named = b"%-19d\n%b\n" % (os.getpid(), socket.gethostname().encode())
        os.ftruncate(file, os.pwrite(file, named, 0))
        self._file = file
        forget = weakref.WeakMethod(self._close)
        os.register_at_fork(after_in_child=lambda: (close := forget()) and close())

    @staticmethod
    def holder_machine(path: Path) -> str:
        """Return the host name of the last holder from the lock file; empty if it has none."""
        try:
            lines = path.read_text("utf-8", "replace").splitlines()
        except OSError:
            return ""
        return lines[1] if len(lines) > 1 else ""

    def release(self) -> None:
        """Release the lock; no effect if it is not held."""
        self._close()

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)
