"""What the kernel knows about a process."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

PATIENCE = 120.0  # seconds for anything that a loaded machine may take


def status(pid: int, name: str) -> str:
    """A line of its status file."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [line] = [each for each in lines if each.startswith(f"{name}:")]
    return line.partition(":")[2].strip()


def runs(pid: int) -> bool:
    try:
        return not status(pid, "State").startswith("Z")
    except (FileNotFoundError, ProcessLookupError):
        return False


def has_ended(pid: int) -> bool:
    """Wait for its end."""
    until = time.monotonic() + PATIENCE
    while runs(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not runs(pid)


def forkservers(parent: int | None = None) -> list[int]:
    words = ["pgrep", "-P", str(parent or os.getpid()), "-f", "multiprocessing.forkserver"]
    return [int(each) for each in subprocess.run(words, capture_output=True).stdout.split()]


def forked_by_us(name: str) -> list[int]:
    """Processes of that name which forkservers of this process have forked."""
    parents = ",".join(map(str, forkservers()))
    found = subprocess.run(["pgrep", "-P", parents, name], capture_output=True)
    return [int(each) for each in found.stdout.split()]
