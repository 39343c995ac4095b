"""Trajectories that collectors were told are stored, read from their logs during a run.

A run that is killed a thousand times leaves thousands of logs. During the run, `look` reads only
the log of each collector's newest process, and only its new lines; `all_ids` reads all the rest.
`benchmarks.chaos` compares these ids with the trajectory store.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path


class Acknowledgements:
    """The acknowledgements in the collector logs of one folder."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._read: dict[str, int] = {}  # bytes read so far, by process name
        self._newest: dict[str, int] = {}  # number of the latest start, by collector
        self._worked: set[str] = set()  # processes with at least one acknowledgement
        self._ids: list[str] = []

    def look(self) -> int:
        """Read the new log lines; return the number of acknowledged ids so far."""
        for name in self._names():
            collector, _, start = name.rpartition(".")
            if int(start) >= self._newest.get(collector, 0):
                self._newest[collector] = int(start)
                self._read_log(name)
        return len(self._ids)

    def at_work(self) -> set[str]:
        """Return the processes that have delivered and have not been killed or replaced since."""
        self.look()
        return self._worked & {f"{each}.{start}" for each, start in self._newest.items()}

    def forget(self, killed: Iterable[str]) -> None:
        """Stop counting these killed processes as being at work."""
        self._worked -= set(killed)

    def all_ids(self) -> list[str]:
        """Read all logs to their ends and return the id of every acknowledged trajectory."""
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
