"""The runs to look at: one run directory, or all in a folder, listed again at each call.

A run directory has a `config.toml`; one that `distrl evaluate --keep` made has only episodes. Runs
are looked up by the names of their directories; nothing outside the given path can be reached.
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
SILENT_SECONDS = 900.0  # without new metrics a run does not train, even if its lock is held
FRESH_SECONDS = 60.0  # since the last metrics a run trains, if its lock cannot be seen from here


@dataclass(frozen=True, slots=True)
class RunCatalogue:
    """The runs at one path."""

    path: Path

    @classmethod
    def at(cls, path: Path) -> RunCatalogue:
        """Open a catalogue; raise `UsageError` if there is no run at `path`."""
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
        """Return the runs by name, the newest first."""
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
    """Return "running" if a process holds the lock and has not written a result since.

    The kernel only lists locks of its own machine, and macOS lists none. If the holder is elsewhere
    (a shared disk, another container), recent metrics decide, which a run that trains keeps
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
    """Return whether a process holds the lock; None if that cannot be told from here.

    It reads the kernel's list of locks: trying to acquire the lock could make a run that starts at
    this moment fail to acquire it.
    """
    if DirectoryLock.holder_machine(lock) != socket.gethostname():
        return None
    try:
        stat, held = lock.stat(), LOCKS.read_text("ascii")
    except OSError:
        return None
    inode = f":{stat.st_ino} "
    return any("FLOCK" in line and inode in line for line in held.splitlines())
