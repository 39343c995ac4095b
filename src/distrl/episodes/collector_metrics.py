"""The counters and timers of a collector, and the `CollectorReport` made of them.

`Collector` writes from all device threads; any thread may ask for a report at any time.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from distrl.episodes.collector_report import CollectorReport, FinishedEpisode
from distrl.episodes.episode import WORKS
from distrl.episodes.policy_batcher import PolicyBatcherReport
from distrl.episodes.scheduler import BlockedOn, EpisodeScheduler, Lease
from distrl.records import Ending, Trajectory

Stage = Literal["decide", "deliver"] | BlockedOn
STAGES: tuple[Stage, ...] = ("decide", "deliver", "admission", "device", "task")
MAX_FINISHED = 10_000  # finished episodes that are kept until `drain_finished`


class CollectorMetrics:
    """Thread-safe; seconds are by `clock`."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._stages: dict[str, float] = dict.fromkeys(STAGES, 0.0)
        self._endings: Counter[str] = Counter()
        self._failed_starts: Counter[str] = Counter()
        self._troubles: dict[str, str] = {}  # of devices that failed last time
        self._finished: deque[FinishedEpisode] = deque(maxlen=MAX_FINISHED)
        self._resent = 0
        self._abandoned = 0
        self._earlier_seconds = 0.0  # of runs that have ended
        self._running_since: float | None = None
        self._thread_seconds = 0.0  # of threads that have ended
        self._threads_since: dict[int, float] = {}

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
    def thread_running(self) -> Iterator[None]:
        """Time a device thread, of which its stages are parts."""
        me, begun = threading.get_ident(), self._clock()
        with self._lock:
            self._threads_since[me] = begun
        try:
            yield
        finally:
            with self._lock:
                del self._threads_since[me]
                self._thread_seconds += self._clock() - begun

    @contextmanager
    def stage(self, name: Stage) -> Iterator[None]:
        """Time what a device thread waits for."""
        begun = self._clock()
        try:
            yield
        finally:
            spent = self._clock() - begun
            with self._lock:
                self._stages[name] += spent

    def delivered(self, trajectory: Trajectory, lease: Lease[Any], *, new: bool) -> None:
        """Count an acknowledged trajectory; `new`: the sink did not have it before."""
        finished = FinishedEpisode(
            id=trajectory.id,
            task=trajectory.task.id,
            template=trajectory.task.template,
            ending=trajectory.ending,
            steps=len(trajectory.decisions),
            weight_version=trajectory.weight_version,
            device=lease.device.name,
            attempt=lease.assignment.attempt,
            began=lease.began,
            ended=time.time(),
        )
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
            stages |= self._stages
            clock = self._clock()
            in_threads = self._thread_seconds + sum(
                clock - begun for begun in self._threads_since.values()
            )
            own = max(0.0, in_threads - sum(stages.values()))
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
                busy={device: sum(each.values()) for device, each in spent.items()},
                stages=stages | {"own": own},
                batcher=batcher,
                troubles=dict(self._troubles),
            )
