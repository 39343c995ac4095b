"""Kill the processes that a collector started if the collector itself is killed.

An emulator has its own process group and would outlive a killed collector. A small watcher process
reads the ids of these groups from a pipe; when the pipe closes, for whatever reason, it kills the
remaining groups, and nothing else.

`python -I -S process_watch.py` runs that watcher, so this file imports only the standard library.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import IO, Self

END_SECONDS = 10.0


class ProcessWatch:
    """Starts and stops the watcher, as a context manager. Any thread may `add` and `remove`."""

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
            start_new_session=True,  # a signal to our process group must not end it as well
        )
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the pipe: the watcher kills the groups that were added and not removed."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()
            process.wait(END_SECONDS)

    def add(self, process_id: int) -> None:
        """Watch a process group, by the id of its leader."""
        self._tell(f"+{process_id}")

    def remove(self, process_id: int) -> None:
        """Stop watching an ended group: its id may be reused."""
        self._tell(f"-{process_id}")

    def _tell(self, line: str) -> None:
        with self._lock:
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.write(f"{line}\n".encode())
                self._process.stdin.flush()


def watch(lines: IO[str]) -> None:
    """Read group ids until the pipe closes, then kill the remaining groups."""
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
