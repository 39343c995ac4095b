"""Builds a training run from its parts, the same for every engine, runs it and closes it again.

Problems are found before anything is spent: a directory that is in use, a `preflight` check that
fails, a model or a checkpoint that cannot be read. Engines differ in two functions that they pass
in: where published weights go, and who collects.
"""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING

from safetensors import SafetensorError

from distrl.agent.policy_weights import export_policy
from distrl.agent.served_gap import check_gap
from distrl.agent.torch_device import use_threads
from distrl.agent.vlm_policy import VlmPolicy
from distrl.config.training_config import TrainingConfig
from distrl.engine.adb_wiring import lease_phones
from distrl.engine.device_wiring import check_phones
from distrl.engine.ingest.deferred_judging import open_receiver
from distrl.engine.ingest.delivery import ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.run.best_weights import BestWeights
from distrl.engine.run.collection import Collection
from distrl.engine.run.evaluator import EvaluationLane, EvaluationStore, Evaluator
from distrl.engine.run.follower_processes import learner_process_group
from distrl.engine.run.losses import (
    check_corpus,
    check_losses,
    check_phone_losses,
    note_corpus_damage,
)
from distrl.engine.run.machine_usage import machine_usage
from distrl.engine.run.model_card import write_model_card
from distrl.engine.run.preflight import CheckPhones, preflight
from distrl.engine.run.resume import TrainingState, begin, recall, resume
from distrl.engine.run.run_card import note_card
from distrl.engine.run.run_monitor import RunMonitor
from distrl.engine.run.stop_request import StopRequest
from distrl.engine.run.training_run import TrainingRun
from distrl.engine.wiring import (
    build_learner,
    build_policy,
    build_served,
    build_weight_store,
)
from distrl.errors import StorageFull
from distrl.json_lines import LineLog, read_lines
from distrl.learning.checkpoint import CheckpointFolder
from distrl.learning.learner import Learner, Publisher
from distrl.learning.process_group import ProcessGroup
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.reporting.recording_archive import RecordingArchive
from distrl.reporting.report import write_report
from distrl.runs.draw_log import DrawLog
from distrl.runs.metrics import Metrics, MetricSink, TensorBoardSink, read_points
from distrl.runs.run_account import RunAccount
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_progress import note_progress
from distrl.runs.run_records import Loss, RunResult
from distrl.runs.run_status import RunView
from distrl.runs.wandb_sink import WandbSink
from distrl.weights.weight_store import WeightStore

if TYPE_CHECKING:
    from torch import Tensor

DISK_SECONDS = 1.0  # between two attempts to publish to a full disk
UNWATCHED = (
    "weights of this size are not kept to compare log-probabilities of acting and learning; that "
    "collectors act with the published weights is checked by their digests"
)
WANDB_PROJECT = "distrl"  # one project for all runs, so that they can be compared there
# Where the learner publishes weights: the store, or something that writes to it and also sends them
OpenPublisher = Callable[[WeightStore], Publisher]
# Opens what collects; enters what has to be closed afterwards into the stack
OpenCollection = Callable[[ExitStack, TrajectoryReceiver, EpisodeLog, TrainingState], Collection]


@dataclasses.dataclass(frozen=True, slots=True)
class RunAssembly:
    """Builds and runs one run in its directory."""

    config: TrainingConfig
    directory: RunDirectory
    view: RunView
    stop: StopRequest
    arrivals: ArrivalQueue
    open_publisher: OpenPublisher
    open_collection: OpenCollection
    asks_first: bool = True  # run `preflight`; False: a learner whose process died is restarted
    ask_phones: CheckPhones = check_phones
    lane: EvaluationLane | None = None  # for evaluations beside training; None: they interrupt it
    sinks: Sequence[MetricSink] = ()  # of metrics, in addition to those of the settings

    def assemble_and_run(self, *, resumed: bool, accept_losses: bool = False) -> RunResult:
        """Run to the end, write result and report; raise `StopRequested` if stopped before."""
        with ExitStack() as opened:
            opened.enter_context(self.directory.held(1e9 * self.config.run.free_gigabytes))
            run = self._assemble(opened, resumed=resumed, accept_losses=accept_losses)
            try:
                result = run.run()
            finally:
                if run.state.updates:  # export the policy, however the run ended
                    version = run.state.learner.version
                    keep_policy(self.directory, run.policy, version, self.view.say)
                    if run.best_weights is not None:
                        run.best_weights.export_if_fallen(run.policy)
            lost = read_lines(self.directory.losses, Loss)
            result = dataclasses.replace(
                result,
                lost_trajectories=sum(each.kind == "trajectory" for each in lost),
                damaged_files=tuple(dict.fromkeys(e.name for e in lost if e.kind == "file")),
            )
            self.directory.write_result(result)
            write_model_card(self.directory, self.config, result)
            note_progress(self.directory, run.checkpoints.latest(), self.arrivals.taken)
        write_report(self.directory)
        return result

    def _assemble(self, opened: ExitStack, *, resumed: bool, accept_losses: bool) -> TrainingRun:
        """Build every part of the run; what is opened is closed by `opened`."""
        config, run = self.config, self.directory
        opened.enter_context(self.view)
        self._lease_phones(opened, resumed=resumed, accept_losses=accept_losses)
        if self.asks_first:
            preflight(config, run.path, self.view.say, self.ask_phones)
        note_card(config, run)
        store = opened.enter_context(TrajectoryStore(run.trajectories, config.store))
        checkpoints = CheckpointFolder(run.checkpoints)
        if resumed:
            check_losses(run, store, checkpoints, self.view.say, accept=accept_losses)
        weights = build_weight_store(config, run.weights)
        use_threads(config.learning.threads)
        policy = self._policy()
        group = opened.enter_context(learner_process_group(config, run))
        publisher = PatientPublisher(self.open_publisher(weights), self.stop, self.view.say)
        learner = self._learner(policy, publisher, group)
        state = TrainingState(learner, self.arrivals)
        if resumed:
            lost = resume(
                config, state, checkpoints, store, weights, self.view.say, self._corpus_damaged
            )
            check_corpus(run, lost, self.view.say, accept=accept_losses)
        else:
            begin(config, state, self.view.say, self._corpus_damaged)
        resumed_at = learner.updates if resumed else None
        metrics = opened.enter_context(open_metrics(config, run, resumed_at, self.sinks))
        episodes = opened.enter_context(LineLog.open(run.episodes))
        episode_log = EpisodeLog(
            episodes, lambda: metrics.seconds, 60.0 * config.run.minutes, list(config.environments)
        )
        receiver = open_receiver(
            config, run, store, self.arrivals, episode_log, self.view.say, opened
        )
        recall(episode_log, run, store, receiver)
        collection = self.open_collection(opened, receiver, episode_log, state)
        evaluations = EvaluationStore(
            opened.enter_context(LineLog.open(run.evaluations)),
            opened.enter_context(RecordingArchive.open(run)),
            learner,
            config.reporting.recordings,
        )
        return TrainingRun(
            config=config,
            policy=policy,
            state=state,
            checkpoints=checkpoints,
            collection=collection,
            episode_log=episode_log,
            monitor=self._monitor(metrics, episode_log, collection, opened, resumed_at),
            evaluations=evaluations,
            evaluator=Evaluator(config, policy, self.stop),
            lane=self.lane,
            stop=self.stop,
            note_checkpoint=lambda path: note_progress(run, path, self.arrivals.taken),
            best_weights=BestWeights(run, weights, episode_log, self.view.say),
        )

    def _lease_phones(self, opened: ExitStack, *, resumed: bool, accept_losses: bool) -> None:
        if resumed:
            check_phone_losses(self.directory, self.view.say, accept=accept_losses)
        lease_phones(self.config, self.directory.path, opened, self.view.say)

    def _corpus_damaged(self, said: str) -> None:
        self.view.say(said)
        note_corpus_damage(self.directory, said)

    def _learner(self, policy: VlmPolicy, publisher: Publisher, group: ProcessGroup) -> Learner:
        learner = build_learner(self.config, policy, self.arrivals, publisher, group)
        if learner.watch is not None and not learner.watch.keeps_weights:
            self.view.say(UNWATCHED)
        return learner

    def _policy(self) -> VlmPolicy:
        """Build the policy that learns; if a server acts, check how far the two are apart."""
        policy = build_policy(self.config)
        if self.asks_first:
            check_server(self.config, self.directory, policy, self.view.say)
        return policy

    def _monitor(
        self,
        metrics: Metrics,
        episode_log: EpisodeLog,
        collection: Collection,
        opened: ExitStack,
        resumed_at: int | None,
    ) -> RunMonitor:
        """Build the monitor; its account begins with what was recorded before the resume."""
        run = self.directory
        account = RunAccount.of(read_points(run.metrics))
        name, devices = run.path.name, self.config.device_count
        return RunMonitor(
            name,
            devices,
            metrics,
            self.view,
            episode_log,
            collection,
            account=account,
            note_fault=opened.enter_context(LineLog.open(run.device_faults)).append,
            draw_log=opened.enter_context(DrawLog.open(run.draws)),
            warm_up_updates=self.config.learning.learner.warm_up_updates,
            resumed_at=resumed_at,
            usage=partial(machine_usage, run.path),
        )


def check_server(
    config: TrainingConfig, run: RunDirectory, policy: VlmPolicy, say: Callable[[str], None]
) -> None:
    """Report how far `agent.server`, if there is one, differs from our own policy.

    Raise `UnusableAnswer` if that is too far to learn from what it plays.
    """
    if config.agent.server:
        with closing(build_served(config, run.path)) as served:
            say(check_gap(served, policy))


@dataclasses.dataclass(slots=True)
class PatientPublisher:
    """Implements `Publisher` around another one: the learner waits while the disk is full.

    Meanwhile collectors go on with the weights that they have, as far as the bound on staleness
    allows. Raises `StopRequested` if the run is to end while it waits.
    """

    publisher: Publisher
    stop: StopRequest
    say: Callable[[str], None]
    pause: Callable[[float], None] = time.sleep

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None:
        waited = False
        while True:
            try:
                self.publisher.publish(weights, version)
                break
            except StorageFull as error:
                if not waited:
                    self.say(f"the learner waits for the disk: {error}")
                waited = True
                self.stop.check()
                self.pause(DISK_SECONDS)
        if waited:
            self.say(f"version {version} of the weights is published: the learner goes on")


def open_metrics(
    config: TrainingConfig,
    run: RunDirectory,
    resumed_at: int | None,
    more: Sequence[MetricSink] = (),
) -> Metrics:
    """Open the run's metrics and sinks. `resumed_at`: the update to go on from; None: a new run."""
    sinks: list[MetricSink] = [*more, TensorBoardSink.open(run.tensorboard, resumed_at=resumed_at)]
    if config.reporting.wandb:
        settings = dataclasses.asdict(config)
        sinks.append(WandbSink.open(WANDB_PROJECT, run.path, settings))
    if resumed_at is None:
        return Metrics.begin(run, sinks)
    return Metrics.resume(run, resumed_at, sinks)


def keep_policy(
    run: RunDirectory, policy: VlmPolicy, version: int, say: Callable[[str], None]
) -> None:
    """Export the policy as a model to `policy/`, in place of an earlier one.

    If the disk is full, only the export is lost, not the run's result.
    """
    fresh, old = run.path / ".policy-new", run.path / ".policy-old"
    try:
        for each in (fresh, old):
            shutil.rmtree(each, ignore_errors=True)
        export_policy(policy, fresh, version)
        if run.policy.exists():
            run.policy.rename(old)
        fresh.rename(run.policy)
        shutil.rmtree(old, ignore_errors=True)
    except (OSError, SafetensorError) as error:
        say(
            f"the policy could not be written to {run.policy}: {error}; it is in the checkpoint, "
            f"and `distrl train --resume {run.path}` writes it again"
        )
