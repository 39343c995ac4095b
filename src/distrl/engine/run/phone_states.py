"""The state of each phone of a run since the last report, as one symbol each, for the live view.

Collectors report the seconds that each phone has worked. A phone whose seconds have grown from one
report to the next was at work; the others waited, failed last time, or are quarantined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from distrl.episodes.collector_report import CollectorReport
from distrl.runs.run_status import AWAY, FAILING, WAITS, WORKS


class PhoneStates:
    """Remembers the last report of each collector."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}  # seconds of the last report, by collector
        self._busy: dict[str, float] = {}  # seconds at work, by phone
        self._signs: dict[str, str] = {}

    def signs(self, reports: Iterable[CollectorReport]) -> str:
        """Return a symbol for each phone that was ever reported, phone-2 before phone-10."""
        for report in reports:
            if self._seen.get(report.name) == report.seconds:
                continue  # the same as last time
            self._seen[report.name] = report.seconds
            for device, seconds in report.busy.items():
                self._signs[device] = self._sign(report, device, seconds)
                self._busy[device] = seconds
        return "".join(self._signs[device] for device in sorted(self._signs, key=_numbered))

    def _sign(self, report: CollectorReport, device: str, seconds: float) -> str:
        if device in report.quarantined:
            return AWAY
        if device in report.troubles:
            return FAILING
        return WORKS if seconds > self._busy.get(device, 0.0) else WAITS


def _numbered(name: str) -> list[tuple[int, str]]:
    """Return a sort key that orders numbers in names as numbers."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]
