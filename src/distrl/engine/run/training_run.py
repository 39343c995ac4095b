"""A training run from the first evaluation to its result: the loop around the learner.

    begin an evaluation with the weights before training
    until a limit is reached:
        learner step; where it needs more trajectories, wait for them
        pace the collectors; write a checkpoint and begin an evaluation when due
    evaluate what was trained

Evaluations before and during training run beside it if the engine has an `EvaluationLane`. The loop
is the same for every way of collecting (`collection`). On a stop request a checkpoint is written,
and `StopRequested` is raised: the run can be resumed. An update under way is abandoned then, and
when the run's time is up: between two micro-batches, before the optimiser's step. If several ranks
share the update, it is finished instead.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError

from distrl.agent.vlm_policy import VlmPolicy
from distrl.config.training_config import TrainingConfig
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.run.best_weights import BestWeights
from distrl.engine.run.collection import Collection
from distrl.engine.run.evaluator import (
    EvaluationLane,
    EvaluationRequest,
    EvaluationStore,
    Evaluator,
    RunningEvaluation,
    evaluation_line,
)
from distrl.engine.run.resume import TrainingState
from distrl.engine.run.run_monitor import RunMonitor
from distrl.engine.run.stop_request import StopRequest, StopRequested, progress
from distrl.episodes.outcome import SuccessRate
from distrl.errors import EvaluationLost, StorageError
from distrl.learning.checkpoint import CheckpointFolder
from distrl.learning.gradient_step import UpdateAbandoned
from distrl.learning.learner_report import LearnerReport
from distrl.process_environment import trim_heap
from distrl.records import Trajectory
from distrl.reporting.live_view import duration
from distrl.runs.run_account import waiting_share
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
    lane: EvaluationLane | None = None  # None: evaluations are played here, between two steps
    clock: Callable[[], float] = time.monotonic
    note_checkpoint: Callable[[Path], None] = lambda path: None  # called when one was written
    best_weights: BestWeights | None = None
    _since: float | None = None  # when this stretch of training began; None: not training
    _before: float = 0.0  # seconds of training before it, earlier processes included
    _saved: float = 0.0  # when the last checkpoint was written
    _evaluated: float = 0.0
    _aside: RunningEvaluation | None = None  # the evaluation that is played in the lane

    def run(self) -> RunResult:
        """Evaluate, train, evaluate; raise `StopRequested` if asked to end before."""
        self._before = self.state.seconds
        self.collection.start()
        try:
            self._pace()
            self._evaluate("before", self.config.evaluation.before)
            self._learn()
            self.collection.stop(FINISH_SECONDS)
        except StopRequested:
            self._leave()
            raise
        try:
            self._evaluate("after", self.config.evaluation.after)
            while self._aside is not None:
                self._take_evaluation(WAIT_SECONDS)
                self._show()
                self.stop.check()
        finally:
            self._cancel_evaluation()
        return self._result()

    def _result(self) -> RunResult:
        account, status = self.monitor.account, self.state.learner.learner_status()
        before = self.evaluations.measured("before")
        after = self.evaluations.measured("after") if self.config.evaluation.after else None
        phone_time = account.time.phones()
        return RunResult(
            success_before=before.rate if before else NOTHING,
            success_after=after.rate if after else NOTHING,
            gain=self.evaluations.gain(),
            success_by_environment=self.evaluations.by_environment(),
            weights_moved=account.weights_moved,
            trajectories=self.episode_log.trajectories,
            updates=self.state.updates,
            wall_s=round(self.monitor.seconds, 3),
            training_s=round(self._trained, 3),
            phone_time=phone_time,
            learner_time=account.time.learner(),
            phones_waiting_share=round(waiting_share(phone_time), 4),
            staleness_mean=round(account.staleness, 4),
            effective_sample_share=round(account.effective_sample_share, 4),
            samples_per_insert=round(status.samples_per_insert, 4),
            seed=self.config.run.seed,
        )

    # The loop -----------------------------------------------------------------------------------

    def _learn(self) -> None:
        learner = self.state.learner
        self._since = self._saved = self._evaluated = self.clock()
        self.monitor.begin("training", learner.learner_status(), self._progress())
        if learner.gradient_step.process_group.size == 1:
            learner.between = self._between_micro_batches
        while self._progress() < 1.0:
            self.stop.check()
            self._check_weights()
            with self.monitor.learner_at("update"):
                report = learner.step()
            self._pace()
            if self.best_weights is not None:
                self.best_weights.keep_if_best()
            if isinstance(report, LearnerReport):
                self.monitor.learned(report)
            elif self._progress() < 1.0:
                self.stop.check()
                self._wait()
            self._show()
            self._save_if_due()
            self._take_evaluation()
            self._evaluate_if_due()
        self._save()
        self._before, self._since = self._trained, None
        self.monitor.training_seconds = self._before
        self.monitor.end_training(learner.learner_status(), len(self.state.arrivals))

    def _between_micro_batches(self) -> None:
        """Show that a long update goes on; abandon it once the run is to end."""
        self._show()
        if self.stop.asked or self._progress() >= 1.0:
            raise UpdateAbandoned

    def _check_weights(self) -> None:
        """Raise `WeightsDiffer` where a collector acts with other weights than were published."""
        for each in self.collection.reports():
            batcher = each.batcher
            self.state.learner.digests.check(
                each.name, batcher.weight_version, batcher.weight_digest
            )

    def _wait(self) -> None:
        """Block until more trajectories may have arrived."""
        with self.monitor.learner_at("waiting"):
            while not self.collection.wait(WAIT_SECONDS) and self._progress() < 1.0:
                self._show()
                self.stop.check()

    def _pace(self) -> None:
        self.episode_log.version = self.state.learner.version
        self.collection.pace(self.state.learner)

    def _show(self) -> None:
        learner = self.state.learner
        self.monitor.training_seconds = self._trained
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
        """Write a checkpoint. If the disk is full, the run goes on: the last one is still there."""
        self._saved = self.clock()
        self.state.seconds = self._trained
        self.state.collectors |= self.collection.states()
        try:
            with self.monitor.learner_at("checkpointing"):
                self.note_checkpoint(self.checkpoints.save(self.state))
        except (OSError, SafetensorError, StorageError) as error:
            self.episode_log.faults["checkpoint_failed"] += 1
            self.monitor.say(f"no checkpoint could be written, the run goes on: {error}")
        trim_heap()

    def _evaluate_if_due(self) -> None:
        every = self.config.evaluation.every_minutes
        if (
            every is None
            or self._aside is not None
            or self.clock() - self._evaluated < 60.0 * every
        ):
            return
        self._before, self._since = self._trained, None  # evaluating here is not training
        self._evaluate("during", self.config.evaluation.every_episodes)
        self._since = self._evaluated = self.clock()
        self.monitor.phase = "training"

    def _evaluate(self, stage: Stage, episodes: int) -> None:
        """Measure success on the test tasks; "before" is not measured again after a resume."""
        known = self.evaluations.measured(stage) if stage == "before" else None
        if known is not None:
            self.monitor.success_before = known.rate
        if known is not None or not episodes or not self.config.measured():
            return
        request = self._request(stage, episodes)
        if self.lane is not None and stage != "after":
            weights = None if stage == "before" else self.state.learner.policy.weights()
            with self._evaluation_may_fail():
                self._aside = self.lane.start(request, weights)
        else:
            self._evaluate_here(request)

    def _request(self, stage: Stage, episodes: int) -> EvaluationRequest:
        learner = self.state.learner
        updates, version = (0, 0) if stage == "before" else (learner.updates, learner.version)
        return EvaluationRequest(stage, episodes, updates, version, self.monitor.seconds)

    def _evaluate_here(self, request: EvaluationRequest) -> None:
        """Play an evaluation with the learner's own policy, which waits meanwhile."""
        stage = request.stage
        phase = "evaluating" if stage == "during" else f"evaluating {stage} training"
        self.monitor.begin(phase, self.state.learner.learner_status(), self._progress())
        trajectories = []
        with self.monitor.learner_at("evaluating"):
            for trajectory in self.evaluator.play(request):
                trajectories.append(trajectory)
                self._note_evaluation(request, len(trajectories))
                self._show()
            with self._evaluation_may_fail():
                self._keep(request, trajectories)
        self.monitor.evaluating = ""

    def _take_evaluation(self, seconds: float = 0.0) -> None:
        """Keep the evaluation that is played aside, if it ends within `seconds`."""
        aside = self._aside
        if aside is None:
            return
        self._note_evaluation(aside.request, len(aside.trajectories))
        with self._evaluation_may_fail():
            if aside.finished(seconds):
                self._cancel_evaluation()
                self._keep(aside.request, aside.trajectories)

    @contextmanager
    def _evaluation_may_fail(self) -> Iterator[None]:
        """A lost process or a full disk costs this evaluation, not the run."""
        try:
            yield
        except (EvaluationLost, OSError, StorageError) as error:
            self._cancel_evaluation()
            self.episode_log.faults["evaluation_lost"] += 1
            self.monitor.say(f"not measured, the run goes on: {error}")

    def _note_evaluation(self, request: EvaluationRequest, played: int) -> None:
        total = request.episodes * len(self.config.measured())
        words, left = f"{request.stage} {played}/{total}", total - played
        if played and left:
            each = (self.monitor.seconds - request.seconds) / played
            words += f", {duration(each * left)} left"
        self.monitor.evaluating = words

    def _keep(self, request: EvaluationRequest, trajectories: Sequence[Trajectory]) -> None:
        splits = dict.fromkeys(e.evaluation.split for e in self.config.measured().values())
        line = evaluation_line(request, ", ".join(splits), trajectories)
        self.evaluations.keep(line, trajectories)
        if request.stage == "before":
            self.monitor.success_before = line.rate
        self._say_unjudged(request, trajectories)

    def _say_unjudged(self, request: EvaluationRequest, trajectories: Sequence[Trajectory]) -> None:
        """Report episodes without a verdict: success is then measured on fewer tasks."""
        broken = Counter(each.ending.value for each in trajectories if not each.ending.judged)
        if not broken:
            return
        self.episode_log.faults["evaluation_unjudged"] += broken.total()
        why = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in sorted(broken.items()))
        self.monitor.say(
            f"evaluation {request.stage} training: {broken.total()} of {len(trajectories)} "
            f"episodes have no verdict ({why}); success is that of the others"
        )

    def _cancel_evaluation(self) -> None:
        if self._aside is not None:
            self._aside.cancel()
        self._aside, self.monitor.evaluating = None, ""

    def _leave(self) -> None:
        """End after a stop request: save what was learned, and stop the collectors."""
        self.monitor.say("stopping: writing a checkpoint, then ending the collectors")
        self._cancel_evaluation()
        if self.state.updates:
            self._save()
        self.collection.stop(0.0)
        known = self.state.collectors
        if self.state.updates and (known | self.collection.states()) != known:
            self._save()  # again, with the tasks that collectors gave up: a resume begins with them
