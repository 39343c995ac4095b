"""Ends processes that we started, should we die before we can end them ourselves.

An emulator lives in a process group of its own and would outlive a collector that is killed. A tiny
process beside the collector holds the other end of a pipe: it is told which groups there are, and
when the pipe closes, for whatever reason, it kills those that are left. It knows them by the ids
that we were given when we started them, and touches nothing else.

Run as a program (`python -I -S process_watch.py`) it is that tiny process, so it imports nothing
but the standard library.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from types import TracebackType
from typing import IO, Self

END_SECONDS = 10.0


class ProcessWatch:
    """A context manager. Any thread may add and remove."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process_id(self) -> int | None:
        return self._process.pid if self._process else None

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # what ends us must not end it as well
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Whatever was added and not removed ends now."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()
            process.wait(END_SECONDS)

    def add(self, process_id: int) -> None:
        """The leader of a group that has to end when we do."""
        self._tell(f"+{process_id}")

    def remove(self, process_id: int) -> None:
        """It has ended; its number may be somebody else's soon."""
        self._tell(f"-{process_id}")

    def _tell(self, line: str) -> None:
        with self._lock:
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.write(f"{line}\n".encode())
                self._process.stdin.flush()


def watch(lines: IO[str]) -> None:
    """Until nobody can say anything any more."""
    groups: set[int] = set()
    for line in lines:
        number = int(line[1:])
        if line.startswith("+"):
            groups.add(number)
        else:
            groups.discard(number)
    for group in groups:
        try:
            os.killpg(group, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


if __name__ == "__main__":
    watch(sys.stdin)
