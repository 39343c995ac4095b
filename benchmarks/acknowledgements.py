"""What collectors were told is stored, read from their own logs while the run goes on.

A run that is killed a thousand times leaves thousands of logs. While it goes on only those of each
collector's newest process are read, and of these only what is new; `all_ids` reads the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path


class Acknowledgements:
    """Of the collectors whose logs are in a folder."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._read: dict[str, int] = {}  # bytes, by the name of a process
        self._newest: dict[str, int] = {}  # the last start, by collector
        self._worked: set[str] = set()  # processes that were told of one at least
        self._ids: list[str] = []

    def look(self) -> int:
        """Read what is new; how many are known by now."""
        for name in self._names():
            collector, _, start = name.rpartition(".")
            if int(start) >= self._newest.get(collector, 0):
                self._newest[collector] = int(start)
                self._read_log(name)
        return len(self._ids)

    def at_work(self) -> set[str]:
        """Processes that have delivered and were not replaced since."""
        self.look()
        return self._worked & {f"{each}.{start}" for each, start in self._newest.items()}

    def forget(self, killed: Iterable[str]) -> None:
        """These processes are at work no more."""
        self._worked -= set(killed)

    def all_ids(self) -> list[str]:
        """Every acknowledged trajectory, by all logs to their ends."""
        for name in self._names():
            self._read_log(name)
        return self._ids

    def _names(self) -> list[str]:
        if not self._logs.is_dir():
            return []
        return [log.stem for log in self._logs.iterdir() if log.name.startswith("collector-")]

    def _read_log(self, name: str) -> None:
        with (self._logs / f"{name}.log").open("rb") as file:
            file.seek(self._read.get(name, 0))
            whole, end, _ = file.read().rpartition(b"\n")
        self._read[name] = self._read.get(name, 0) + len(whole) + len(end)
        told = re.findall(r"acknowledged (\S+)", whole.decode("utf-8", "replace"))
        self._ids += told
        if told:
            self._worked.add(name)
