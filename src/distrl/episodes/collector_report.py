"""Metrics and reports of a collector: the endings of its episodes, and where time was spent.

Counts are since the start; subtract an earlier report for a rate. `stages` has the seconds of each
stage, summed over all slots (a slot is one device that plays), to show the bottleneck:

    reset, act   the device works; ideally all the time
    begin        the judge sets the task up on the device
    pack         the collector compresses a screen
    decide       waiting for a decision
    deliver      waiting for the acknowledgement of a trajectory
    admission    not allowed to start, because the weights are too old
    device       no device is free and healthy
    task         nothing left to play
    judge        the judge inspects the device
    queue        waiting for a thread of the collector: to be advanced, or to be started
    own          the rest: the collector itself (in lockstep, deciding as well)
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from distrl.episodes.episode import DEVICE_WORKS, WORKS
from distrl.episodes.policy_batcher import PolicyBatcherReport
from distrl.episodes.scheduler import BlockedOn, EpisodeScheduler, Lease
from distrl.episodes.stage_timer import StageTimer
from distrl.records import Ending, Trajectory

Stage = Literal["decide", "judge", "deliver", "queue"] | BlockedOn
STAGES: tuple[Stage, ...] = (
    "decide", "judge", "deliver", "queue", "admission", "device", "task",
)  # fmt: skip
MAX_FINISHED = 10_000  # finished episodes to keep until `drain_finished`


@dataclass(frozen=True, slots=True)
class FinishedEpisode:
    """Where and when an acknowledged episode was played, in wall-clock time (`time.time`).

    The rest is in its trajectory, which has already been delivered.
    """

    id: str
    device: str
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class CollectorReport:
    """The counters of one collector."""

    name: str
    seconds: float  # of running time
    slots: int  # devices that play at once
    in_flight: int  # episodes in progress
    started: int
    endings: dict[str, int]  # of acknowledged trajectories, by `Ending`
    resent: int  # acknowledged as duplicates
    failed_starts: dict[str, int]  # episodes without a first screen, by error
    retried: int
    given_up: int  # tasks whose attempts all ended without a verdict
    abandoned: int  # cut short by a stop
    quarantines: int
    quarantined: tuple[str, ...]  # devices in quarantine now
    stuck: tuple[str, ...]  # threads still blocked in their device at the end of `run`
    busy: dict[str, float]  # seconds at work, by device
    stages: dict[str, float]  # seconds, see above; their sum is the time of all slots
    batcher: PolicyBatcherReport
    troubles: dict[str, str] = field(default_factory=dict)  # last fault of each failing device

    @property
    def trajectories(self) -> int:
        return sum(self.endings.values())

    @property
    def device_busy(self) -> float:
        """Share of the slots' time in which a device worked, spares included."""
        return sum(self.busy.values()) / max(1e-9, self.seconds * self.slots)

    @property
    def faults(self) -> dict[str, int]:
        """Endings without a verdict and failed starts, by name."""
        broken = {e.value: self.endings.get(e.value, 0) for e in Ending if e.broken}
        return {name: n for name, n in (broken | self.failed_starts).items() if n}


def gauges(reports: Sequence[CollectorReport]) -> dict[str, float]:
    """Return the figures of all collectors, summed; `distrl plan --from-run` reads them."""
    batchers = [report.batcher for report in reports]
    return {
        "decisions": float(sum(each.decisions for each in batchers)),
        "batches": float(sum(sum(each.batches.values()) for each in batchers)),
        "mean_batch": sum(each.mean_batch for each in batchers),
        "swaps": float(sum(each.swaps for each in batchers)),
        "quarantined": float(sum(len(report.quarantined) for report in reports)),
        "failing": float(sum(len(report.troubles) for report in reports)),
        "in_flight": float(sum(report.in_flight for report in reports)),
        "deciding_seconds": sum(each.deciding_seconds for each in batchers),
    }


class CollectorMetrics:
    """The counters and timers behind `CollectorReport`. Thread-safe; `clock` measures seconds."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._stages: StageTimer[Stage] = StageTimer(STAGES, clock)
        self._endings: Counter[str] = Counter()
        self._failed_starts: Counter[str] = Counter()
        self._troubles: dict[str, str] = {}  # last fault of each device whose last episode failed
        self._finished: deque[FinishedEpisode] = deque(maxlen=MAX_FINISHED)
        self._resent = 0
        self._abandoned = 0
        self._earlier_seconds = 0.0  # of runs that have ended
        self._running_since: float | None = None
        self._slot_seconds = 0.0  # of slots that have ended
        self._slots_since: list[tuple[int, float]] = []  # how many, and since when

    @contextmanager
    def running(self) -> Iterator[None]:
        """Time a run of the collector."""
        self._running_since = self._clock()
        try:
            yield
        finally:
            self._earlier_seconds, self._running_since = self.seconds, None

    @property
    def seconds(self) -> float:
        since = self._running_since
        return self._earlier_seconds + (0.0 if since is None else self._clock() - since)

    @contextmanager
    def slots_running(self, slots: int = 1) -> Iterator[None]:
        """Measure the total time of slots, of which their stages are parts."""
        entry = slots, self._clock()
        with self._lock:
            self._slots_since.append(entry)
        try:
            yield
        finally:
            with self._lock:
                self._slots_since.remove(entry)
                self._slot_seconds += slots * (self._clock() - entry[1])

    def stage(self, name: Stage, slots: int = 1) -> AbstractContextManager[None]:
        """Measure the time that slots spend in a stage."""
        return self._stages.at(name, slots)

    def time(self, name: Stage, awaited: Future[Any]) -> None:
        """Measure the time of one slot until `awaited` is done."""
        self._stages.until(awaited, name)

    def begin(self, name: Stage) -> int:
        """Measure the time of one slot until `end` is called with the returned number."""
        return self._stages.begin(name)

    def end(self, number: int) -> None:
        self._stages.end(number)

    def delivered(self, trajectory: Trajectory, lease: Lease[Any], *, new: bool) -> None:
        """Count an acknowledged trajectory; `new` is False if the sink already had it."""
        finished = FinishedEpisode(trajectory.id, lease.device.name, lease.began, time.time())
        with self._lock:
            if not new:
                self._resent += 1
                return
            self._endings[trajectory.ending.value] += 1
            self._troubles.pop(finished.device, None)
            if trajectory.ending is Ending.DEVICE_LOST:
                self._troubles[finished.device] = "; ".join(trajectory.notes[-1:])
            self._finished.append(finished)

    def failed_start(self, device: str, error: Exception) -> None:
        with self._lock:
            self._failed_starts[type(error).__name__] += 1
            self._troubles[device] = f"{type(error).__name__}: {error}"

    def abandoned(self) -> None:
        with self._lock:
            self._abandoned += 1

    def drain_finished(self) -> list[FinishedEpisode]:
        with self._lock:
            finished = list(self._finished)
            self._finished.clear()
            return finished

    def report(
        self,
        name: str,
        scheduler: EpisodeScheduler[Any],  # whose lock the caller holds
        batcher: PolicyBatcherReport,
        now: float,  # by the clock of the scheduler
        stuck: tuple[str, ...],
    ) -> CollectorReport:
        pool = scheduler.device_pool
        spent = pool.spent()
        with self._lock:
            stages: dict[str, float] = {
                work: sum(each[work] for each in spent.values()) for work in WORKS
            }
            stages.update((str(stage), s) for stage, s in self._stages.spent().items())
            clock = self._clock()
            in_slots = self._slot_seconds + sum(
                slots * (clock - begun) for slots, begun in self._slots_since
            )
            own = max(0.0, in_slots - sum(stages.values()))
            return CollectorReport(
                name=name,
                seconds=self.seconds,
                slots=pool.slots,
                in_flight=scheduler.in_flight,
                started=scheduler.started,
                endings=dict(self._endings),
                resent=self._resent,
                failed_starts=dict(self._failed_starts),
                retried=scheduler.retried,
                given_up=scheduler.given_up,
                abandoned=self._abandoned,
                quarantines=pool.quarantines,
                quarantined=pool.quarantined(now),
                stuck=stuck,
                busy={
                    device: sum(each[work] for work in DEVICE_WORKS)
                    for device, each in spent.items()
                },
                stages=stages | {"own": own},
                batcher=batcher,
                troubles=dict(self._troubles),
            )
