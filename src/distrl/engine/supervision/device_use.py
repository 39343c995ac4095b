"""How busy the devices were, over all collectors that a run has had, the dead ones included."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from distrl.episodes.collector_report import CollectorReport


@dataclass(slots=True)
class DeviceUse:
    """Seconds at work and seconds there, of collectors that have ended."""

    busy: float = 0.0
    there: float = 0.0

    def add(self, report: CollectorReport) -> None:
        self.busy += sum(report.busy.values())
        self.there += report.seconds * report.slots

    def seconds(self, running: Iterable[CollectorReport] = ()) -> tuple[float, float]:
        """At work and there, with those that still run."""
        total = DeviceUse(self.busy, self.there)
        for report in running:
            total.add(report)
        return total.busy, total.there
