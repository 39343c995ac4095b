"""Find the processes of a training run from outside, and wait by their CPU time.

`CpuPatience` limits a wait by the CPU time that the run has used, not by wall time: on a machine
with other load, a slow run that makes progress is not taken for a hung one.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from distrl.runs.run_directory import RunDirectory

TICKS = os.sysconf("SC_CLK_TCK")  # kernel clock ticks per second
LOOK_SECONDS = 2.0  # between two readings of the CPU time


def by_log(run: RunDirectory, role: str) -> dict[int, str]:
    """Return the names of the run's collectors (or policy processes) by process id.

    They are found by their error logs: once a forkserver dies, its children have another parent.
    """
    logs, found = f"{run.path.absolute() / 'logs'}/", {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # the process has ended, or belongs to another user
            log = str((process / "fd" / "2").readlink())
            if log.startswith(f"{logs}{role}-"):
                found[int(process.name)] = log.removeprefix(logs).removesuffix(".log")
    return found


def forkservers(learner: int) -> list[int]:
    words = ["pgrep", "-P", str(learner), "-f", "multiprocessing.forkserver"]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    return [int(each) for each in told.stdout.split()]


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has used so far; 0 if it has ended."""
    try:
        _, _, facts = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")
    except OSError:
        return 0.0
    user, system = facts.split()[11:13]
    return (int(user) + int(system)) / TICKS


@dataclass(slots=True)
class CpuPatience:
    """One wait, limited to `cpu` seconds of CPU time of `pids()` and to `longest` real seconds."""

    pids: Callable[[], Iterable[int]]
    cpu: float
    longest: float
    _began: float = field(default_factory=time.monotonic)
    _looked: float = -float("inf")
    _first: dict[int, float] = field(default_factory=dict)
    _last: dict[int, float] = field(default_factory=dict)  # includes processes that have ended

    def is_over(self) -> bool:
        now = time.monotonic()
        if now - self._looked >= LOOK_SECONDS:
            self._looked = now
            for pid in self.pids():
                used = cpu_seconds(pid)
                self._first.setdefault(pid, used)
                self._last[pid] = max(used, self._last.get(pid, 0.0))
        return self.used > self.cpu or now - self._began > self.longest

    @property
    def used(self) -> float:
        return sum(self._last.values()) - sum(self._first.values())
