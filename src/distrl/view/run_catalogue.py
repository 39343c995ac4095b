"""Which runs there are to look at: one run directory, or all in a folder, found anew when asked.

A run directory has a `config.toml`; what `distrl evaluate --keep` leaves has only episodes. Runs
are known by the names of their directories; nothing outside of what was named can be reached.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from distrl.errors import UsageError
from distrl.replay.store.directory_lock import NAME as LOCK
from distrl.replay.store.directory_lock import DirectoryLock
from distrl.runs.run_directory import RunDirectory

RunState = Literal["running", "finished", "stopped"]
LOCKS = Path("/proc/locks")
SILENT_SECONDS = 900.0  # without a point of metrics: whatever the process is, it does not train
FRESH_SECONDS = 60.0  # since a point of metrics: it trains, where its lock cannot be seen


@dataclass(frozen=True, slots=True)
class RunCatalogue:
    """The runs at one path."""

    path: Path

    @classmethod
    def at(cls, path: Path) -> RunCatalogue:
        """Raises where there is nothing to look at."""
        catalogue = cls(path.absolute())
        if not path.is_dir():
            raise UsageError(
                f"{path} is no directory; name a run, or a folder of runs such as runs/"
            )
        if not catalogue.runs():
            raise UsageError(
                f"{path} is no run and has none in it; `make train` makes one below runs/, and "
                "`distrl evaluate MODEL --keep DIR` keeps episodes to look at"
            )
        return catalogue

    def runs(self) -> dict[str, RunDirectory]:
        """By name, the newest first."""
        if _is_run(self.path):
            return {self.path.name: RunDirectory(self.path)}
        found = [each for each in self.path.iterdir() if each.is_dir() and _is_run(each)]
        newest = sorted(found, key=_began, reverse=True)
        return {each.name: RunDirectory(each) for each in newest}

    def __getitem__(self, name: str) -> RunDirectory:
        return self.runs()[name]


def _is_run(path: Path) -> bool:
    return (path / "config.toml").is_file() or (path / "episodes.jsonl").is_file()


def _began(path: Path) -> float:
    config = path / "config.toml"
    return (config if config.exists() else path / "episodes.jsonl").stat().st_mtime


def run_state(run: RunDirectory, now: float) -> RunState:
    """Whether a process trains it: it holds the lock, and has not left a result.

    The kernel lists the locks of its own machine alone, and a Mac's lists none. Where the holder is
    elsewhere (a shared disk, another container) the metrics tell, which a run that trains goes on
    writing: a killed one is then noticed a minute later.
    """
    lock = run.path / LOCK
    result_at, lock_at, last = (_modified(path) for path in (run.result, lock, run.metrics))
    if lock_at > result_at and now - max(last, lock_at) < SILENT_SECONDS:
        held = _is_held(lock)
        if held or (held is None and now - max(last, lock_at) < FRESH_SECONDS):
            return "running"
    return "finished" if result_at else "stopped"


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _is_held(lock: Path) -> bool | None:
    """Does a process hold the lock? None: it cannot be told from here.

    Asks the kernel's list of locks, since trying to take it could keep a run that starts just now
    from taking it.
    """
    if DirectoryLock.holder_machine(lock) != socket.gethostname():
        return None
    try:
        stat, held = lock.stat(), LOCKS.read_text("ascii")
    except OSError:
        return None
    inode = f":{stat.st_ino} "
    return any("FLOCK" in line and inode in line for line in held.splitlines())
