"""What a collector reports about itself: the endings of its episodes, and where time was spent.

Counts are since the start; subtract an earlier report for a rate. `stages` has the seconds of all
device threads added up, so that a bottleneck shows at once:

    reset, act   the device works: what it should do all the time
    decide       waiting for a decision
    deliver      waiting for the acknowledgement of a trajectory
    admission    not allowed to start, since the weights are too old
    device       no device is free and healthy
    task         nothing left to play
    own          the rest: judging, and the collector itself (in lockstep, deciding as well)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from distrl.episodes.policy_batcher import PolicyBatcherReport
from distrl.records import Ending

RECORDED_STAGES = ("reset", "act", "decide", "deliver", "own")


@dataclass(frozen=True, slots=True)
class FinishedEpisode:
    """An acknowledged episode. Times are wall-clock times (`time.time`)."""

    id: str
    task: str
    template: str
    ending: Ending
    steps: int
    weight_version: int
    device: str
    attempt: int
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class CollectorReport:
    """The counters of one collector."""

    name: str
    seconds: float  # that it has run
    slots: int  # devices that play at once
    in_flight: int  # episodes under way
    started: int
    endings: dict[str, int]  # of acknowledged trajectories, by `Ending`
    resent: int  # acknowledged as duplicates
    failed_starts: dict[str, int]  # no first screen came, by error
    retried: int
    given_up: int  # tasks that no attempt brought to a verdict
    abandoned: int  # cut short by a stop
    quarantines: int
    quarantined: tuple[str, ...]  # now
    stuck: tuple[str, ...]  # threads that were left blocked in their device
    busy: dict[str, float]  # seconds at work, by device
    stages: dict[str, float]  # seconds, see above
    batcher: PolicyBatcherReport
    troubles: dict[str, str] = field(default_factory=dict)  # why a device failed last, by device

    @property
    def trajectories(self) -> int:
        return sum(self.endings.values())

    @property
    def device_busy(self) -> float:
        """Share of the time of all slots in which a device worked; a spare plays for another."""
        return sum(self.busy.values()) / max(1e-9, self.seconds * self.slots)

    @property
    def faults(self) -> dict[str, int]:
        """Endings without a verdict and failed starts, by name."""
        broken = {e.value: self.endings.get(e.value, 0) for e in Ending if e.broken}
        return {name: n for name, n in (broken | self.failed_starts).items() if n}


def gauges(reports: Sequence[CollectorReport]) -> dict[str, float]:
    """What a run records of its collectors, added up; `distrl plan --from-run` reads them."""
    batchers = [report.batcher for report in reports]
    return {
        "decisions": float(sum(each.decisions for each in batchers)),
        "batches": float(sum(sum(each.batches.values()) for each in batchers)),
        "mean_batch": sum(each.mean_batch for each in batchers),
        "swaps": float(sum(each.swaps for each in batchers)),
        "quarantined": float(sum(len(report.quarantined) for report in reports)),
        "in_flight": float(sum(report.in_flight for report in reports)),
        **{
            f"seconds/{stage}": sum(report.stages.get(stage, 0.0) for report in reports)
            for stage in RECORDED_STAGES
        },
        "seconds/deciding": sum(each.deciding_seconds for each in batchers),
    }
