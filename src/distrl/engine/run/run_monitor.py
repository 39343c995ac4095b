"""Records how a run goes: points to the metrics, a `RunStatus` to the live view.

Called by the thread that runs the learner; nothing here decides anything.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from distrl.engine.ingest.episode_log import LATE_SECONDS, EpisodeLog
from distrl.engine.run.collection import Collection
from distrl.episodes.collector_report import gauges
from distrl.episodes.outcome import SuccessRate
from distrl.errors import StorageError
from distrl.learning.learner_report import LearnerReport, LearnerStatus
from distrl.runs.metrics import Metrics
from distrl.runs.run_records import DeviceFault
from distrl.runs.run_status import RunStatus, RunView

SAMPLE_SECONDS = 5.0  # between two points of the series `collection`
SHOW_SECONDS = 0.25  # between two updates of the live view
LEAST_SECONDS, LEAST_SHARE = 2.0, 0.002  # of training, before a pace says anything
RECENT_STEPS = 20
PROGRESSING = ("training", "collecting")  # phases


@dataclass(frozen=True, slots=True)
class _Use:
    at: float
    busy: float
    there: float


class Countdown:
    """Estimates the training time left from the pace of this process while it trained.

    Evaluations and the time of earlier processes do not count, so that the estimate holds from the
    first minute on, also after a resume.
    """

    def __init__(self) -> None:
        self._seen: tuple[float, float] | None = None  # the last time and progress
        self._seconds = 0.0  # of training in this process
        self._share = 0.0  # of the run that they brought

    def see(self, now: float, progress: float, *, training: bool) -> None:
        """`progress` is the share of the whole run, in [0, 1]."""
        if not training:
            self._seen = None
            return
        if self._seen is not None:
            self._seconds += now - self._seen[0]
            self._share += progress - self._seen[1]
        self._seen = now, progress

    def seconds_left(self, progress: float) -> float | None:
        """None before there is a pace, and when there is nothing left to train."""
        if self._seconds < LEAST_SECONDS or self._share < LEAST_SHARE or progress >= 1.0:
            return None
        return self._seconds * (1.0 - progress) / self._share


class RunMonitor:
    """The metrics and the status of one run."""

    def __init__(
        self,
        name: str,
        devices: int,
        metrics: Metrics,
        view: RunView,
        episode_log: EpisodeLog,
        collection: Collection,
        clock: Callable[[], float] = time.monotonic,
        note_fault: Callable[[DeviceFault], None] = lambda fault: None,
    ) -> None:
        self.phase = "starting"
        self.success_before: SuccessRate | None = None
        self._name = name
        self._devices = devices
        self._metrics = metrics
        self._view = view
        self._episode_log = episode_log
        self._collection = collection
        self._clock = clock
        self._note_fault = note_fault
        self._steps: deque[float] = deque(maxlen=RECENT_STEPS)
        self._uses: deque[_Use] = deque([_Use(clock(), 0.0, 0.0)])
        self._countdown = Countdown()
        self._failed_starts: dict[str, int] = {}  # counted so far, by collector
        self._troubles: dict[str, str] = {}  # kinds of errors that were said, by device
        self._sampled = -float("inf")
        self._shown = -float("inf")

    @property
    def seconds(self) -> float:
        """The run's own time."""
        return self._metrics.seconds

    def say(self, sentence: str) -> None:
        self._view.say(sentence)

    def learned(self, report: LearnerReport) -> None:
        """Record an update of the learner."""
        self._steps.append(sum(report.seconds.values()))
        self._metrics.record("learner", report.learner_status.updates, report.gauges())

    def look(self, learner_status: LearnerStatus, progress: float, queue: int) -> None:
        """Record a point of the collection and update the view, each when due."""
        now = self._clock()
        self._countdown.see(now, progress, training=self.phase in PROGRESSING)
        if now - self._sampled >= SAMPLE_SECONDS:
            self._sampled = now
            self._sample(now, learner_status, queue)
        if now - self._shown >= SHOW_SECONDS:
            self._shown = now
            self._note_troubles()
            self._view.show(self._status(learner_status, progress, queue))

    def begin(self, phase: str, learner_status: LearnerStatus, progress: float) -> None:
        """Enter a new phase and show it at once."""
        self.phase, self._shown = phase, -float("inf")
        self.look(learner_status, progress, 0)

    def _note_troubles(self) -> None:
        """Count episodes that could not start; say which phone failed and why, once per error."""
        said: dict[str, str] = {}
        for report in self._collection.reports():
            failed = sum(report.failed_starts.values())
            if new := failed - self._failed_starts.get(report.name, 0):
                self._episode_log.faults["failed_start"] += new
            self._failed_starts[report.name] = failed
            for device, why in report.troubles.items():
                said[device] = why.partition(":")[0]
                if self._troubles.get(device) != said[device]:
                    self.say(f"{device} failed: {why}")
                    with suppress(StorageError):  # a full disk costs its line in the log
                        self._note_fault(DeviceFault(device, self.seconds, why))
        self._troubles = said

    # Metrics and status -------------------------------------------------------------------------

    def device_busy(self) -> float:
        """The devices' share of time at work since this process started."""
        busy, there = self._collection.device_seconds()
        return busy / there if there else 0.0

    def _sample(self, now: float, learner_status: LearnerStatus, queue: int) -> None:
        self._uses.append(_Use(now, *self._collection.device_seconds()))
        while self._uses[0].at < now - LATE_SECONDS:
            self._uses.popleft()
        late = self._episode_log.of_late()
        figures = {
            "device_busy": self._busy_of_late(),
            "queue": float(queue),
            "trajectories": float(self._episode_log.trajectories),
            "trajectories_per_minute": late.per_minute,
            "success_rate": late.success.rate,
            "staleness/mean": late.staleness_mean,
            "faults": float(sum(self._episode_log.all_faults().values())),
        }
        figures |= gauges(self._collection.reports())
        self._metrics.record("collection", learner_status.updates, figures)

    def _busy_of_late(self) -> float:
        first, last = self._uses[0], self._uses[-1]
        there = last.there - first.there
        return min(1.0, max(0.0, (last.busy - first.busy) / there)) if there > 0.0 else 0.0

    def _status(self, learner_status: LearnerStatus, progress: float, queue: int) -> RunStatus:
        late, reports = self._episode_log.of_late(), self._collection.reports()
        return RunStatus(
            name=self._name,
            phase=self.phase,
            seconds=self._metrics.seconds,
            progress=min(1.0, progress),
            success=late.success,
            success_before=self.success_before,
            success_history=self._episode_log.success_history(),
            trajectories=self._episode_log.trajectories,
            trajectories_per_minute=late.per_minute,
            updates=learner_status.updates,
            weight_version=learner_status.version,
            step_seconds=sum(self._steps) / max(1, len(self._steps)),
            devices=self._devices,
            device_busy=self._busy_of_late(),
            quarantined=sum(len(each.quarantined) for each in reports),
            staleness_mean=late.staleness_mean,
            staleness_max=late.staleness_max,
            queue=queue,
            replay=int(learner_status.replay.get("trajectories", 0)),
            faults=self._episode_log.all_faults(),
            seconds_left=self._countdown.seconds_left(progress),
        )
