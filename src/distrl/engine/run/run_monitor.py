"""Reports how a run goes: points to the metrics, a `RunStatus` to the live view.

The thread that runs the learner calls it. It only observes: nothing here makes decisions.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.run.collection import Collection
from distrl.engine.run.phone_states import PhoneStates
from distrl.episodes.collector_report import gauges
from distrl.episodes.outcome import SuccessRate
from distrl.episodes.stage_timer import StageTimer
from distrl.errors import StorageError
from distrl.learning.learner_report import LearnerReport, LearnerStatus, named
from distrl.runs.draw_log import DrawLog
from distrl.runs.metrics import Metrics
from distrl.runs.run_account import RunAccount
from distrl.runs.run_records import DeviceFault, Series
from distrl.runs.run_status import RunStatus, RunView

SAMPLE_SECONDS = 5.0  # between two points of the series `collection`
SHOW_SECONDS = 0.25  # between two updates of the live view
LEAST_SECONDS, LEAST_SHARE = 2.0, 0.002  # of training, before the time left is estimated
RECENT_STEPS = 20
MAX_NOTICES = 20  # of policies: those of other machines are untrusted texts
MAX_FAULT_LINES = 10_000  # about devices, per process
PROGRESSING = ("training", "collecting")  # phases
LearnerStage = Literal["update", "waiting", "checkpointing", "evaluating"]


class Countdown:
    """Estimates the training time left from the pace of this process while it trained.

    Evaluations and the time of earlier processes do not count, so that the estimate holds from the
    first minute on, also after a resume.
    """

    def __init__(self) -> None:
        self._seen: tuple[float, float] | None = None  # the last time and progress
        self._seconds = 0.0  # of training in this process
        self._share = 0.0  # of the run that was done in that time

    def see(self, now: float, progress: float, *, training: bool) -> None:
        """Record that at time `now` the share `progress`, in [0, 1], of the run is done."""
        if not training:
            self._seen = None
            return
        if self._seen is not None:
            self._seconds += now - self._seen[0]
            self._share += progress - self._seen[1]
        self._seen = now, progress

    def seconds_left(self, progress: float) -> float | None:
        """Return the estimate; None after too little training, or if nothing is left to train."""
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
        account: RunAccount | None = None,  # of what the run recorded before it was resumed
        note_fault: Callable[[DeviceFault], None] = lambda fault: None,
        draw_log: DrawLog | None = None,
        warm_up_updates: int = 0,  # the first updates, which train the critic alone
        resumed_at: int | None = None,  # the update from which this process goes on
        usage: Callable[[], dict[str, float]] = dict,  # of the machine
    ) -> None:
        self.account = account or RunAccount()
        self.phase = "starting"
        self.success_before: SuccessRate | None = None
        self.evaluating = ""  # the evaluation beside training, and how far it is
        self.training_seconds = 0.0  # of the run; the training loop keeps it up to date
        self._name = name
        self._devices = devices
        self._metrics = metrics
        self._view = view
        self._episode_log = episode_log
        self._collection = collection
        self._clock = clock
        self._recent: deque[LearnerReport] = deque(maxlen=RECENT_STEPS)
        self._learner_stages: StageTimer[str] = StageTimer(clock=clock)
        self._training_since: float | None = None
        self._trained: dict[str, float] | None = None  # seconds by stage, once training has ended
        self._note_fault = note_fault
        self._draw_log = draw_log or DrawLog(None)
        self._warm_up_updates = warm_up_updates
        self._resumed_at = resumed_at
        self._usage = usage
        self._machine: dict[str, float] = {}  # as it was last sampled
        self._phones = PhoneStates()
        self._learner_stage: LearnerStage | None = None  # that its thread is in
        self._countdown = Countdown()
        self._counted: dict[tuple[str, str], int] = {}  # faults so far, by collector and kind
        self._troubles: dict[str, str] = {}  # device -> kind of its last error that was reported
        self._notices: set[str] = set()  # of policies, already reported
        self._faults_noted = 0
        self._sampled = -float("inf")
        self._shown = -float("inf")

    @property
    def seconds(self) -> float:
        """Seconds since the run began, as the metrics count them."""
        return self._metrics.seconds

    def say(self, sentence: str) -> None:
        self._view.say(sentence)

    def learned(self, report: LearnerReport) -> None:
        """Record an update of the learner."""
        self._recent.append(report)
        for stage, seconds in report.seconds.items():
            self._learner_stages.add(stage, seconds)
            self._learner_stages.add("update", -seconds)  # the whole step was timed as "update"
        self._record("learner", report.learner_status.updates, report.gauges())
        self._draw_log.add(report.learner_status.updates, report.drawn)

    @contextmanager
    def learner_at(self, stage: LearnerStage) -> Iterator[None]:
        """Time a stage of the learner's thread; `learned` splits "update" into its parts later."""
        self._learner_stage = stage
        try:
            with self._learner_stages.at(stage):
                yield
        finally:
            self._learner_stage = None

    def _record(self, series: Series, updates: int, figures: dict[str, float]) -> None:
        self.account.add(self._metrics.record(series, updates, figures))

    def look(self, learner_status: LearnerStatus, progress: float, queue: int) -> None:
        """Record a point of the collection and update the view, each when due."""
        now = self._clock()
        self._countdown.see(now, progress, training=self.phase in PROGRESSING)
        if now - self._sampled >= SAMPLE_SECONDS:
            self._sampled = now
            self.sample(learner_status, queue)
        if now - self._shown >= SHOW_SECONDS:
            self._shown = now
            self._note_troubles()
            if warning := self._episode_log.pop_warning():
                self.say(warning)
            self._view.show(self._status(learner_status, progress, queue))

    def begin(self, phase: str, learner_status: LearnerStatus, progress: float) -> None:
        """Enter a new phase and show it at once."""
        self.phase, self._shown = phase, -float("inf")
        if phase == "training" and self._training_since is None:
            self._training_since = self._clock()
        self.look(learner_status, progress, 0)

    def end_training(self, learner_status: LearnerStatus, queue: int) -> None:
        """Record a last point, and freeze the learner's seconds by stage."""
        self._note_troubles()
        self.sample(learner_status, queue)
        self._trained = self._learner_seconds()

    def _note_troubles(self) -> None:
        """Count episodes that could not start and tasks that were given up. Report which phone
        failed and why, once per error, and the notices of policies.
        """
        said: dict[str, str] = {}
        for report in (*self._collection.ended_reports(), *self._collection.reports()):
            self._count(report.name, "failed_start", sum(report.failed_starts.values()))
            self._count(report.name, "task_given_up", report.given_up)
            self._say_once(report.batcher.notice)
            for device, why in report.troubles.items():
                said[device] = why.partition(":")[0]
                if self._troubles.get(device) != said[device]:
                    self.say(f"{device} failed: {why}")
                    self._note(DeviceFault(device, self.seconds, why))
        self._troubles = said

    def _count(self, collector: str, kind: str, total: int) -> None:
        if new := total - self._counted.get((collector, kind), 0):
            self._episode_log.faults[kind] += new
        self._counted[collector, kind] = total

    def _say_once(self, notice: str) -> None:
        if notice and notice not in self._notices and len(self._notices) < MAX_NOTICES:
            self._notices.add(notice)
            self.say(notice)

    def _note(self, fault: DeviceFault) -> None:
        """Log a device fault; count the faults that the log cannot take."""
        if self._faults_noted < MAX_FAULT_LINES:
            with suppress(StorageError):
                self._note_fault(fault)
                self._faults_noted += 1
                return
        self._episode_log.faults["device_faults_cut"] += 1

    # Metrics and status -------------------------------------------------------------------------

    def sample(self, learner_status: LearnerStatus, queue: int) -> None:
        """Record a point of the collection, whether it is due or not."""
        late = self._episode_log.of_late()
        figures = {
            "queue": float(queue),
            "trajectories": float(self._episode_log.trajectories),
            "trajectories_per_minute": late.per_minute,
            "success_rate": late.success.rate,
            "lag/mean": late.lag,
            "faults": float(sum(self._episode_log.all_faults().values())),
            "training_seconds": self.training_seconds,
        }
        self._machine = self._usage()
        figures |= {f"success_rate/{name}": r.rate for name, r in late.by_environment.items()}
        figures |= gauges(self._collection.reports()) | self._machine
        figures |= named("seconds", self._collection.phone_seconds())
        figures |= named("learner_seconds", self._learner_seconds())
        self._record("collection", learner_status.updates, figures)

    def _learner_seconds(self) -> dict[str, float]:
        """Seconds of the learner's thread since training began, by stage."""
        if self._trained is not None or self._training_since is None:
            return self._trained or {}
        stages = self._learner_stages.spent()
        passed = self._clock() - self._training_since
        return stages | {"other": max(0.0, passed - sum(stages.values()))}

    def _status(self, learner_status: LearnerStatus, progress: float, queue: int) -> RunStatus:
        late, reports = self._episode_log.of_late(), self._collection.reports()
        return RunStatus(
            name=self._name,
            phase=self.phase,
            seconds=self._metrics.seconds,
            progress=min(1.0, progress),
            success=late.success,
            success_by_environment=late.by_environment,
            success_before=self.success_before,
            success_history=self._episode_log.success_history(),
            trajectories=self._episode_log.trajectories,
            trajectories_per_minute=late.per_minute,
            updates=learner_status.updates,
            weight_version=learner_status.version,
            step_seconds=self._of_late(lambda each: sum(each.seconds.values())),
            devices=self._devices,
            phone_time=self.account.time.phones(),
            learner_time=self.account.time.learner(),
            quarantined=sum(len(each.quarantined) for each in reports),
            staleness=self._of_late(lambda each: each.mean_staleness),
            effective_sample_share=self._of_late(lambda each: each.effective_sample_share),
            queue=queue,
            replay=int(learner_status.replay.get("trajectories", 0)),
            faults=self._episode_log.all_faults(),
            evaluating=self.evaluating,
            seconds_left=self._countdown.seconds_left(progress),
            detail=self._detail(learner_status),
            history_seconds=self._episode_log.history_seconds,
            gpu_gigabytes=self._machine.get("machine/gpu_gigabytes", 0.0),
            gpu_memory_share=self._machine.get("machine/gpu_memory_share", 0.0),
            phones=self._phones.signs(reports),
        )

    def _detail(self, learner_status: LearnerStatus) -> str:
        """Say what is special about the current phase."""
        parts, updates, last = [], learner_status.updates, self._warm_up_updates
        if self._learner_stage == "waiting":
            parts.append("the learner waits for trajectories")
        elif self.phase == "training" and updates < last:
            parts.append(f"the critic warms up: update {updates} of {last}")
        if self._resumed_at is not None:
            parts.append(f"resumed at update {self._resumed_at}")
        return ", ".join(parts)

    def _of_late(self, figure: Callable[[LearnerReport], float]) -> float:
        """The mean over recent updates; 0 before the first."""
        return sum(map(figure, self._recent)) / max(1, len(self._recent))
