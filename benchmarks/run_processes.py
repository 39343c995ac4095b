"""The processes of a training run, found from outside, and how long one waits for them.

`CpuPatience` waits by the CPU time that a run has had, not by the clock: on a machine that others
use as well a run that makes progress slowly is not taken for one that hangs.
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

TICKS = os.sysconf("SC_CLK_TCK")  # of a second, in which the kernel counts
LOOK_SECONDS = 2.0  # between two looks at what the processes have used


def by_log(run: RunDirectory, role: str) -> dict[int, str]:
    """Names of the run's collectors (or policy processes) by their ids.

    Found by where their errors go: after the death of a forkserver its children have other parents.
    """
    logs, found = f"{run.path.absolute() / 'logs'}/", {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is not ours to see
            log = str((process / "fd" / "2").readlink())
            if log.startswith(f"{logs}{role}-"):
                found[int(process.name)] = log.removeprefix(logs).removesuffix(".log")
    return found


def forkservers(learner: int) -> list[int]:
    words = ["pgrep", "-P", str(learner), "-f", "multiprocessing.forkserver"]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    return [int(each) for each in told.stdout.split()]


def cpu_seconds(pid: int) -> float:
    """What a process has used so far; 0 if it has ended."""
    try:
        _, _, facts = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")
    except OSError:
        return 0.0
    user, system = facts.split()[11:13]
    return (int(user) + int(system)) / TICKS


@dataclass(slots=True)
class CpuPatience:
    """One wait: it is over after so much CPU time of `pids()`, or after `longest` seconds."""

    pids: Callable[[], Iterable[int]]
    cpu: float
    longest: float
    _began: float = field(default_factory=time.monotonic)
    _looked: float = -float("inf")
    _first: dict[int, float] = field(default_factory=dict)
    _last: dict[int, float] = field(default_factory=dict)  # also of those that have ended

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
