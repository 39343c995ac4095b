"""A training run from the first evaluation to its result: the loop around the learner.

    evaluate
    until a limit is reached:
        learner step; where it needs more trajectories, wait for them
        pace the collectors; write a checkpoint and evaluate when due
    evaluate

It is the same for every way of collecting (`collection`). On a stop request the current step is
finished, a checkpoint is written, and `StopRequested` says that the run can be resumed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError

from distrl.agent.vlm_policy import VlmPolicy
from distrl.config.training_config import TrainingConfig
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.run.collection import Collection
from distrl.engine.run.evaluator import EvaluationStore, Evaluator
from distrl.engine.run.resume import TrainingState
from distrl.engine.run.run_monitor import RunMonitor
from distrl.engine.run.stop_request import StopRequest, StopRequested, progress
from distrl.episodes.outcome import SuccessRate
from distrl.errors import StorageError
from distrl.learning.checkpoint import CheckpointFolder
from distrl.learning.learner_report import LearnerReport
from distrl.process_environment import trim_heap
from distrl.runs.run_records import RunResult, Stage

WAIT_SECONDS = 0.25  # for arrivals, before the view is updated
FINISH_SECONDS = 5.0  # for episodes to finish when a run ends
NOTHING = SuccessRate(0, 0)


@dataclass(slots=True)
class TrainingRun:
    """The parts of a run, built by `run_assembly`."""

    config: TrainingConfig
    policy: VlmPolicy
    state: TrainingState
    checkpoints: CheckpointFolder
    collection: Collection
    episode_log: EpisodeLog
    monitor: RunMonitor
    evaluations: EvaluationStore
    evaluator: Evaluator
    stop: StopRequest
    clock: Callable[[], float] = time.monotonic
    note_checkpoint: Callable[[Path], None] = lambda path: None  # called when one was written
    _since: float | None = None  # when this stretch of training began; None: not training
    _before: float = 0.0  # seconds of training before it, earlier processes included
    _saved: float = 0.0  # when the last checkpoint was written
    _evaluated: float = 0.0

    def run(self) -> RunResult:
        """Evaluate, train, evaluate. `StopRequested`: it was asked to end before."""
        self._before = self.state.seconds
        self.collection.start()
        try:
            self._pace()
            before = self._evaluate("before", self.config.evaluation.before)
            self.monitor.success_before = before if before.episodes else None
            self._learn()
            self.collection.stop(FINISH_SECONDS)
        except StopRequested:
            self._leave()
            raise
        after = self._evaluate("after", self.config.evaluation.after)
        return RunResult(
            success_before=before,
            success_after=after,
            trajectories=self.episode_log.trajectories,
            updates=self.state.updates,
            wall_s=round(self.monitor.seconds, 3),
            device_busy=round(min(1.0, self.monitor.device_busy()), 4),
            staleness_mean=round(self.episode_log.mean_staleness, 4),
            seed=self.config.run.seed,
        )

    # The loop -----------------------------------------------------------------------------------

    def _learn(self) -> None:
        learner = self.state.learner
        self._since = self._saved = self._evaluated = self.clock()
        self.monitor.begin("training", learner.learner_status(), self._progress())
        while self._progress() < 1.0:
            self.stop.check()
            self._check_weights()
            report = learner.step()
            self._pace()
            if isinstance(report, LearnerReport):
                self.monitor.learned(report)
            else:
                self._wait()
            self._show()
            self._save_if_due()
            self._evaluate_if_due()
        self._save()

    def _check_weights(self) -> None:
        """Raise `WeightsDiffer` where a collector acts with other weights than were published."""
        for each in self.collection.reports():
            batcher = each.batcher
            self.state.learner.digests.check(
                each.name, batcher.weight_version, batcher.weight_digest
            )

    def _wait(self) -> None:
        """Block until more trajectories may have arrived."""
        while not self.collection.wait(WAIT_SECONDS) and self._progress() < 1.0:
            self._show()
            self.stop.check()

    def _pace(self) -> None:
        self.episode_log.version = self.state.learner.version
        self.collection.pace(self.state.learner)

    def _show(self) -> None:
        learner = self.state.learner
        self.monitor.look(learner.learner_status(), self._progress(), len(self.state.arrivals))

    def _progress(self) -> float:
        return progress(
            self.config.run,
            training_seconds=self._trained,
            trajectories=self.episode_log.trajectories,
            updates=self.state.updates,
        )

    @property
    def _trained(self) -> float:
        """Seconds of training, all of the run's processes together."""
        return self._before + (0.0 if self._since is None else self.clock() - self._since)

    # When due -----------------------------------------------------------------------------------

    def _save_if_due(self) -> None:
        if self.clock() - self._saved >= 60.0 * self.config.run.checkpoint_minutes:
            self._save()

    def _save(self) -> None:
        """Write a checkpoint. A full disk costs this one, not the run: the last is still there."""
        self._saved = self.clock()
        self.state.seconds = self._trained
        self.state.collectors |= self.collection.states()
        try:
            self.note_checkpoint(self.checkpoints.save(self.state))
        except (OSError, SafetensorError, StorageError) as error:
            self.episode_log.faults["checkpoint_failed"] += 1
            self.monitor.say(f"no checkpoint could be written, the run goes on: {error}")
        trim_heap()

    def _evaluate_if_due(self) -> None:
        every = self.config.evaluation.every_minutes
        if every is not None and self.clock() - self._evaluated >= 60.0 * every:
            self._before, self._since = self._trained, None  # evaluation is not training time
            self._evaluate("during", self.config.evaluation.every_episodes)
            self._since = self._evaluated = self.clock()
            self.monitor.phase = "training"

    def _evaluate(self, stage: Stage, episodes: int) -> SuccessRate:
        """Success on the test tasks; "before" is not measured again after a resume."""
        known = self.evaluations.measured(stage) if stage == "before" else None
        if known is not None or not episodes:
            return known or NOTHING
        learner = self.state.learner
        phase = "evaluating" if stage == "during" else f"evaluating {stage} training"
        self.monitor.begin(phase, learner.learner_status(), self._progress())
        line, trajectories = self.evaluator.run(
            stage,
            episodes,
            updates=learner.updates,
            version=learner.version,
            seconds=self.monitor.seconds,
            after_each=self._show,
        )
        self.evaluations.keep(line, trajectories)
        return line.rate

    def _leave(self) -> None:
        """End after a stop request: keep what was learned."""
        self.monitor.say("stopping: writing a checkpoint, then ending the collectors")
        if self.state.updates:
            self._save()
        self.collection.stop(0.0)
