"""Writes `collectors.json`: which processes collect for a run, for people who inspect it.

On a cluster nothing else in the run directory says on which node a collector is. Nothing depends
on the file: if it cannot be written, the old one stays.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from distrl.episodes.collector_report import CollectorReport
from distrl.json_lines import encode_line
from distrl.runs.run_records import CollectorNote, CollectorNotes

NOTE_SECONDS = 5.0  # between two writings


class CollectorNotebook:
    """Keeps the file up to date; one thread at a time."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._written = -float("inf")

    @property
    def is_due(self) -> bool:
        return self._clock() - self._written >= NOTE_SECONDS

    def write(self, collectors: Iterable[CollectorNote]) -> None:
        self._written = self._clock()
        draft = self._path.with_name(f".{self._path.name}.draft")
        with suppress(OSError):
            draft.write_bytes(encode_line(CollectorNotes(tuple(collectors))))
            draft.replace(self._path)


def note(name: str, place: str, in_flight: int, report: CollectorReport | None) -> CollectorNote:
    """Summarise one collector; `report` is None until its first full report has come."""
    if report is None:
        return CollectorNote(name, place, in_flight, 0, {})
    away = {phone: report.troubles.get(phone, "") for phone in report.quarantined}
    return CollectorNote(name, place, in_flight, report.trajectories, away)
