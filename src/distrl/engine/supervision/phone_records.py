"""Keeps what collectors report about their phones, except counters, for the report of the run.

    refusals   actions that guarded phones refused: appended to the run's `refusals.jsonl`, to which
               collectors that share the learner's disk write themselves
    reports    the last ones of collectors that have ended, so that phones that failed at their end
               are named as well; `RunMonitor` takes them

What other machines send is untrusted: texts are cut short and made printable, times are checked,
and a run keeps `max_lines` at most. What is left out or not written is counted in the run's faults
as `refusals_cut`. Each refusal is kept once, however often it is sent. Thread-safe.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from distrl.devices.safety.refusals import Refusal, RefusalBatch, append_refusals, short
from distrl.episodes.collector_report import CollectorReport
from distrl.errors import CorruptLog, StorageError
from distrl.json_lines import read_lines, whole_lines

MAX_LINES = 100_000  # of refusals in a run
REMEMBERED = 20_000  # refusals that are recognised when they are sent again
MAX_UNWRITTEN = 5_000  # that wait for room on the disk
MAX_REPORTS = 256  # of collectors that have ended
CUT = "refusals_cut"


@dataclass(slots=True)
class PhoneRecords:
    """The phone records of one run; `faults` are the run's fault counters."""

    path: Path
    faults: Counter[str]
    max_lines: int = MAX_LINES
    _lines: int = -1  # in the file; -1: not counted yet
    _seen: dict[Refusal, None] = field(default_factory=dict)  # the last ones, in order
    _unwritten: list[Refusal] = field(default_factory=list)
    _ended: deque[CollectorReport] = field(default_factory=lambda: deque(maxlen=MAX_REPORTS))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    # Refusals -----------------------------------------------------------------------------------

    def take(self, batch: RefusalBatch | None) -> None:
        """Append the batch's new refusals to the file. Never raises."""
        if batch is None or not (batch.refusals or batch.cut):
            return
        with self._lock:
            self.faults[CUT] += batch.cut
            if self._lines < 0:
                self._look()
            for each in map(_legible, batch.refusals):
                if each not in self._seen:
                    self._remember(each)
                    self._unwritten.append(each)
            self._write()

    def _look(self) -> None:
        """Read what the file has already, after a restart."""
        self._lines = len(whole_lines(self.path))
        with suppress(CorruptLog):  # the report of the run says so
            for each in read_lines(self.path, Refusal)[-REMEMBERED:]:
                self._remember(each)

    def _remember(self, refusal: Refusal) -> None:
        self._seen[refusal] = None
        if len(self._seen) > REMEMBERED:
            del self._seen[next(iter(self._seen))]

    def _write(self) -> None:
        """Write pending refusals, up to the limits; on a full disk they wait for the next call."""
        room = min(MAX_UNWRITTEN, max(0, self.max_lines - self._lines))
        self.faults[CUT] += len(self._unwritten[room:])
        self._unwritten = self._unwritten[:room]
        with suppress(StorageError):
            append_refusals(self.path, *self._unwritten)
            self._lines += len(self._unwritten)
            self._unwritten = []

    # Collectors that have ended -----------------------------------------------------------------

    def ended(self, report: CollectorReport) -> None:
        with self._lock:
            self._ended.append(report)

    def drain_ended(self) -> list[CollectorReport]:
        """Return the last reports of collectors that have ended since the last call."""
        with self._lock:
            reports = list(self._ended)
            self._ended.clear()
            return reports


def printable(text: str) -> str:
    """Cut a text short and replace unprintable characters, which a terminal might obey."""
    return "".join(c if c.isprintable() else "?" for c in short(text))


def _legible(refusal: Refusal) -> Refusal:
    sane = math.isfinite(refusal.time) and 0.0 <= refusal.time < 1e11
    return Refusal(
        refusal.time if sane else time.time(),
        printable(refusal.device),
        printable(refusal.action),
        printable(refusal.why),
    )
