"""What a collector counts as it goes, and how its report comes of that."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from distrl.episodes.collector_report import CollectorReport, FinishedEpisode
from distrl.episodes.measured_device import WORKS
from distrl.episodes.policy_batcher import PolicyBatcherReport
from distrl.episodes.scheduler import BlockedOn, EpisodeScheduler
from distrl.records import Trajectory

Stage = Literal["decide", "deliver"] | BlockedOn
STAGES: tuple[Stage, ...] = ("decide", "deliver", "admission", "device", "task")
REMEMBERED = 10_000  # finished episodes that nobody asked about yet


class CollectorMetrics:
    """Any thread may write and read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stages: dict[str, float] = dict.fromkeys(STAGES, 0.0)
        self._endings: Counter[str] = Counter()
        self._failed_starts: Counter[str] = Counter()
        self._finished: deque[FinishedEpisode] = deque(maxlen=REMEMBERED)
        self._resent = 0
        self._abandoned = 0
        self._worked = 0.0  # seconds of earlier shifts
        self._since: float | None = None
        self._threads_worked = 0.0  # seconds of threads that have ended
        self._threads_since: dict[int, float] = {}

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """The collector's own hours."""
        self._since = time.perf_counter()
        try:
            yield
        finally:
            self._worked, self._since = self.seconds, None

    @property
    def seconds(self) -> float:
        since = self._since
        return self._worked + (0.0 if since is None else time.perf_counter() - since)

    @contextmanager
    def thread_at_work(self) -> Iterator[None]:
        """The hours of one thread, which its stages are a part of."""
        me, begun = threading.get_ident(), time.perf_counter()
        with self._lock:
            self._threads_since[me] = begun
        try:
            yield
        finally:
            with self._lock:
                del self._threads_since[me]
                self._threads_worked += time.perf_counter() - begun

    def _thread_seconds(self) -> float:
        now = time.perf_counter()
        return self._threads_worked + sum(now - begun for begun in self._threads_since.values())

    @contextmanager
    def stage(self, name: Stage) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - begun
            with self._lock:
                self._stages[name] += spent

    def acknowledged(
        self, trajectory: Trajectory, device: str, attempt: int, began: float, *, new: bool
    ) -> None:
        finished = FinishedEpisode(
            id=trajectory.id,
            task=trajectory.task.id,
            template=trajectory.task.template,
            ending=trajectory.ending,
            steps=len(trajectory.decisions),
            weight_version=trajectory.weight_version,
            device=device,
            attempt=attempt,
            began=began,
            ended=time.time(),
        )
        with self._lock:
            if not new:
                self._resent += 1
                return
            self._endings[trajectory.ending.value] += 1
            self._finished.append(finished)

    def failed_start(self, error: Exception) -> None:
        with self._lock:
            self._failed_starts[type(error).__name__] += 1

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
        scheduler: EpisodeScheduler[Any],
        batcher: PolicyBatcherReport,
        now: float,  # by the clock of the shelf
        stuck: tuple[str, ...],
    ) -> CollectorReport:
        """All that is known; nobody else may use the rota meanwhile."""
        spent = {device.name: device.spent() for device in scheduler.device_pool.devices}
        with self._lock:
            at_work: dict[str, float] = {
                work: sum(each[work] for each in spent.values()) for work in WORKS
            }
            stages = {**at_work, **self._stages}
            own = max(0.0, self._thread_seconds() - sum(stages.values()))
            return CollectorReport(
                name=name,
                seconds=self.seconds,
                slots=scheduler.device_pool.slots,
                in_flight=scheduler.in_flight,
                started=scheduler.started,
                endings=dict(self._endings),
                resent=self._resent,
                failed_starts=dict(self._failed_starts),
                retried=scheduler.tasks.retried,
                given_up=scheduler.tasks.given_up,
                abandoned=self._abandoned,
                quarantines=scheduler.device_pool.quarantines,
                quarantined=scheduler.device_pool.quarantined(now),
                stuck=stuck,
                busy={device: sum(each.values()) for device, each in spent.items()},
                stages=stages | {"own": own},
                batcher=batcher,
            )
