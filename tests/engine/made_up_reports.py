"""Reports of collectors that never played."""

from __future__ import annotations

from distrl.episodes.collector_report import CollectorReport, FinishedEpisode
from distrl.episodes.policy_batcher import PolicyBatcherReport


def report(
    decisions: int = 0, in_flight: int = 1, trajectories: int = 1, name: str = "collector-0.1"
) -> CollectorReport:
    return CollectorReport(
        name=name,
        seconds=10.0,
        slots=2,
        in_flight=in_flight,
        started=3,
        endings={"success": trajectories},
        resent=0,
        failed_starts={"DeviceTimeout": 1},
        retried=1,
        given_up=0,
        abandoned=0,
        quarantines=0,
        quarantined=("phone-1",),
        stuck=(),
        busy={"phone-0": 5.0, "phone-1": 7.0},
        stages={"decide": 1.5},
        batcher=PolicyBatcherReport(decisions, {1: 2, 4: 3}, 1, 7, 0.5, 0.25),
    )


def finished(name: str, began: float = 100.0, ended: float = 130.0) -> FinishedEpisode:
    return FinishedEpisode(name, "phone-0", began, ended)
