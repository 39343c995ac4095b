"""A training run put together from its parts, the same for every engine, run, and closed again.

What can go wrong is found out before anything is spent: the directory is free, the disk has room,
the model opens, the checkpoint can be read. What differs between engines is said by an
`Arrangement`: who collects, and which way new weights go besides onto the disk.
"""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from typing import Protocol

from distrl.agent.computing_threads import use_threads
from distrl.config.training_config import TrainingConfig
from distrl.engine.ingest.arrival_queue import ArrivalQueue
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.judged_receiver import open_receiver
from distrl.engine.ingest.trajectory_receiver import TrajectoryReceiver
from distrl.engine.run.collection import Collection
from distrl.engine.run.evaluation_store import EvaluationStore
from distrl.engine.run.evaluator import Evaluator
from distrl.engine.run.policy_export import keep_policy
from distrl.engine.run.preflight import check_world
from distrl.engine.run.resume import begin, recall, resume
from distrl.engine.run.run_monitor import RunMonitor
from distrl.engine.run.stop_request import StopRequest
from distrl.engine.run.training_run import TrainingRun
from distrl.engine.run.training_state import TrainingState
from distrl.engine.wiring import build_learner, build_policy, build_weight_store
from distrl.json_lines import LineLog
from distrl.learning.checkpoint import CheckpointFolder
from distrl.learning.learner import Publisher
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.reporting.recording_archive import RecordingArchive
from distrl.reporting.report import write_report
from distrl.runs.metrics import Metrics, MetricSink
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import RunResult
from distrl.runs.run_view import RunView
from distrl.runs.tensorboard_sink import TensorBoardSink
from distrl.runs.wandb_sink import WandbSink
from distrl.weights.weight_store import WeightStore


class Arrangement(Protocol):
    """What an engine has of its own."""

    def publisher(self, weights: WeightStore) -> Publisher:
        """Where the learner's weights go; to the store in any case."""
        ...

    def collection(
        self,
        opened: ExitStack,
        receiver: TrajectoryReceiver,
        episode_log: EpisodeLog,
        state: TrainingState,
    ) -> Collection:
        """Who collects; what has to be ended afterwards is left to `opened`."""
        ...


class RunAssembly:
    """Puts one run together in its directory. Use it once."""

    def __init__(
        self,
        config: TrainingConfig,
        run: RunDirectory,
        view: RunView,
        stop: StopRequest,
        arrivals: ArrivalQueue,
    ) -> None:
        self.config = config
        self.directory = run
        self._view = view
        self._stop = stop
        self._arrivals = arrivals

    def train(self, arrangement: Arrangement, *, resumed: bool) -> RunResult:
        """Train to the end, write result and report. `StopRequested`: it was stopped before."""
        with ExitStack() as opened:
            opened.enter_context(self.directory.held(1e9 * self.config.run.free_gigabytes))
            run = self._assemble(opened, arrangement, resumed=resumed)
            try:
                result = run.train()
            finally:
                self._keep_policy(run)
            self.directory.write_result(result)
        write_report(self.directory)
        return result

    def _keep_policy(self, run: TrainingRun) -> None:
        """However it ended; a run that has learned nothing has nothing to keep."""
        if run.state.updates:
            version = run.state.learner.version
            keep_policy(self.directory, run.policy, version, self._view.say)

    def _assemble(
        self, opened: ExitStack, arrangement: Arrangement, *, resumed: bool
    ) -> TrainingRun:
        """Everything that the run consists of; what is opened is closed by `opened`."""
        config, run = self.config, self.directory
        check_world(config, self._view.say)
        store = opened.enter_context(TrajectoryStore(run.trajectories, config.store))
        weights = build_weight_store(config, run.weights)
        use_threads(config.learning.threads)
        policy = build_policy(config)
        learner = build_learner(config, policy, self._arrivals, arrangement.publisher(weights))
        state, checkpoints = (
            TrainingState(learner, self._arrivals),
            CheckpointFolder(run.checkpoints),
        )
        if resumed:
            resume(config, state, checkpoints, store, weights)
        else:
            begin(config, state)
        metrics = opened.enter_context(self.metrics(learner.updates if resumed else None))
        episodes = opened.enter_context(LineLog.open(run.episodes))
        episode_log = EpisodeLog(episodes, lambda: metrics.seconds)
        receiver = open_receiver(
            config.judge, run, store, self._arrivals, episode_log, self._view.say, opened
        )
        recall(episode_log, run, store, receiver)
        collection = arrangement.collection(opened, receiver, episode_log, state)
        opened.enter_context(self._view)
        archive = EvaluationStore(
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
            monitor=RunMonitor(
                run.path.name, config.devices.count, metrics, self._view, episode_log, collection
            ),
            archive=archive,
            test=Evaluator(config, policy, self._stop),
            stop=self._stop,
        )

    def metrics(self, resumed_at: int | None) -> Metrics:
        """The run's figures; None: it begins now."""
        config, run = self.config, self.directory
        sinks: list[MetricSink] = [TensorBoardSink.open(run.tensorboard, resumed_at=resumed_at)]
        if config.reporting.wandb:
            settings = dataclasses.asdict(config)
            sinks.append(WandbSink.open(config.reporting.wandb_project, run.path, settings))
        if resumed_at is None:
            return Metrics.begin(run, sinks)
        return Metrics.resume(run, resumed_at, sinks)
