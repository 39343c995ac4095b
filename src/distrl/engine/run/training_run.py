"""A training run from its first look at the test tasks to its report: the loop of the learner.

    evaluate
    until a limit is reached:
        learn; where that needs more trajectories, wait for them
        tell the collectors how far we are; write a checkpoint now and then
    evaluate, say what came of it

It is the same for every way of collecting (`collection`). When somebody asks for an end, the step
under way is finished, a checkpoint is written, and `StopRequested` says that it is to be resumed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from safetensors import SafetensorError

from distrl.agent.vlm_policy import VlmPolicy
from distrl.config.training_config import TrainingConfig
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.run.collection import Collection
from distrl.engine.run.evaluation_store import EvaluationStore
from distrl.engine.run.evaluator import Evaluator
from distrl.engine.run.heap import give_back
from distrl.engine.run.run_limits import Spent, progress
from distrl.engine.run.run_monitor import RunMonitor
from distrl.engine.run.stop_request import StopRequest, StopRequested
from distrl.engine.run.training_state import TrainingState
from distrl.episodes.outcome import SuccessRate
from distrl.learning.checkpoint import CheckpointFolder
from distrl.learning.learner_report import LearnerReport
from distrl.runs.run_records import RunResult, Stage

WAIT_SECONDS = 0.25  # for arrivals, before the view is shown anew
FINISH_SECONDS = 5.0  # that episodes may go on for when a run ends
NOTHING = SuccessRate(0, 0)


@dataclass(slots=True)
class TrainingRun:
    """Everything that a run consists of, put together by `run_assembly`."""

    config: TrainingConfig
    policy: VlmPolicy
    state: TrainingState
    checkpoints: CheckpointFolder
    collection: Collection
    episode_log: EpisodeLog
    monitor: RunMonitor
    archive: EvaluationStore
    test: Evaluator
    stop: StopRequest
    clock: Callable[[], float] = time.monotonic
    _since: float | None = None  # when training began in this process
    _before: float = 0.0  # seconds of training in processes before
    _saved: float = 0.0
    _tested: float = 0.0

    def train(self) -> RunResult:
        """All of it; `StopRequested` if it was asked to end before it came to its end."""
        self._before = self.state.seconds
        self.collection.start()
        try:
            self._pace()
            before = self._measure("before", self.config.evaluation.before)
            self.monitor.success_before = before if before.episodes else None
            self._learn()
            self.collection.stop(FINISH_SECONDS)
        except StopRequested:
            self._leave()
            raise
        after = self._measure("after", self.config.evaluation.after)
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
        self._since = self._saved = self._tested = self.clock()
        self.monitor.begin("training", learner.learner_status(), self._progress())
        while self._progress() < 1.0:
            self.stop.check()
            report = learner.step()
            self._pace()
            if isinstance(report, LearnerReport):
                self.monitor.learned(report)
            else:
                self._wait()
            self._look()
            self._save_if_due()
            self._test_if_due()
        self._save()

    def _wait(self) -> None:
        """Until there is more to learn from."""
        while not self.collection.wait(WAIT_SECONDS) and self._progress() < 1.0:
            self._look()
            self.stop.check()

    def _pace(self) -> None:
        self.episode_log.version = self.state.learner.version
        self.collection.pace(self.state.learner)

    def _look(self) -> None:
        learner = self.state.learner
        self.monitor.look(learner.learner_status(), self._progress(), len(self.state.arrivals))

    def _progress(self) -> float:
        spent = Spent(self._trained, self.episode_log.trajectories, self.state.updates)
        return progress(self.config.run, spent)

    @property
    def _trained(self) -> float:
        """Seconds of training, all of the run's processes together."""
        return self._before + (0.0 if self._since is None else self.clock() - self._since)

    # Now and then -------------------------------------------------------------------------------

    def _save_if_due(self) -> None:
        if self.clock() - self._saved >= 60.0 * self.config.run.checkpoint_minutes:
            self._save()

    def _save(self) -> None:
        """A disk that is full costs this checkpoint, not the run: the one before is still there."""
        self._saved = self.clock()
        self.state.seconds = self._trained
        self.state.collectors |= self.collection.states()
        try:
            self.checkpoints.save(self.state)
        except (OSError, SafetensorError) as error:
            self.episode_log.faults["checkpoint_failed"] += 1
            self.monitor.say(f"no checkpoint could be written, the run goes on: {error}")
        give_back()

    def _test_if_due(self) -> None:
        every = self.config.evaluation.every_minutes
        if every is not None and self.clock() - self._tested >= 60.0 * every:
            self._before, self._since = self._trained, None  # a test is no training
            self._measure("during", self.config.evaluation.every_episodes)
            self._since = self._tested = self.clock()
            self.monitor.phase = "training"

    def _measure(self, stage: Stage, episodes: int) -> SuccessRate:
        """Success on the test tasks; what was measured before a resume is not measured again."""
        known = self.archive.measured(stage) if stage == "before" else None
        if known is not None or not episodes:
            return known or NOTHING
        learner = self.state.learner
        words = {"before": "evaluating before training", "after": "evaluating after training"}
        self.monitor.begin(
            words.get(stage, "evaluating"), learner.learner_status(), self._progress()
        )
        line, trajectories = self.test.run(
            stage,
            episodes,
            updates=learner.updates,
            version=learner.version,
            seconds=self.monitor.seconds,
            seen=self._look,
        )
        self.archive.keep(line, trajectories)
        return line.rate

    def _leave(self) -> None:
        """Somebody asked for an end: keep what there is."""
        self.monitor.say("stopping: writing a checkpoint, then ending the collectors")
        if self.state.updates:
            self._save()
        self.collection.stop(0.0)
