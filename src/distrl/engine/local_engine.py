"""A run on one machine: everything is opened, put together, run and closed again here.

The learner is in this process; collectors are processes of their own, or, in one-process mode, here
as well. What can go wrong is found out before anything is spent: the directory is free, the disk
has room, the model opens, the checkpoint can be read.
"""

from __future__ import annotations

import dataclasses
import json
from contextlib import ExitStack

from rich.console import Console

from distrl.config.training_config import TrainingConfig
from distrl.engine.arrival_queue import ArrivalQueue
from distrl.engine.asynchronous_collection import AsynchronousCollection
from distrl.engine.collection import Collection
from distrl.engine.collection_run import CollectionRun
from distrl.engine.collector_child import CollectorChild, new_name, start_child
from distrl.engine.collector_crew import CollectorCrew
from distrl.engine.episode_ledger import EpisodeLedger
from distrl.engine.one_process_collection import (
    DirectSink,
    FreeAdmission,
    NoCollection,
    OneProcessCollection,
)
from distrl.engine.reception import Reception
from distrl.engine.resumption import begin, recall, resume
from distrl.engine.run_archive import RunArchive
from distrl.engine.run_journal import RunJournal
from distrl.engine.stop_request import StopRequest
from distrl.engine.success_test import SuccessTest
from distrl.engine.supervision import Supervision
from distrl.engine.synchronous_collection import SynchronousCollection
from distrl.engine.training_run import TrainingRun
from distrl.engine.training_state import TrainingState
from distrl.engine.wiring import (
    build_collector,
    build_learner,
    build_policy,
    build_weight_store,
)
from distrl.learning.checkpoint import CheckpointFolder
from distrl.replay.trajectory_store import TrajectoryStore
from distrl.reporting.film_archive import FilmArchive
from distrl.reporting.json_lines import LineLog
from distrl.reporting.live_view import LiveView
from distrl.reporting.metrics import Metrics, MetricSink
from distrl.reporting.report import write_report
from distrl.reporting.run_directory import RunDirectory
from distrl.reporting.run_records import RunResult
from distrl.reporting.tensorboard_sink import TensorBoardSink
from distrl.reporting.wandb_sink import WandbSink


class LocalEngine:
    """Runs one training run in its directory. Use it once."""

    def __init__(self, config: TrainingConfig, run: RunDirectory, console: Console) -> None:
        self.config = config
        self.directory = run
        self._view = LiveView(console, line_seconds=config.reporting.line_seconds)
        self._arrivals = ArrivalQueue()
        self._stop = StopRequest()

    def train(self, *, resumed: bool = False) -> RunResult:
        """Train to the end, write result and report. `StopRequested`: it was stopped before."""
        self._stop.wake = self._arrivals.wake
        with ExitStack() as opened:
            opened.enter_context(self.directory.held(1e9 * self.config.run.free_gigabytes))
            opened.enter_context(self._stop)
            result = self._assemble(opened, resumed=resumed).train()
            self.directory.write_result(result)
        write_report(self.directory)
        return result

    def collect(self) -> int:
        """Collect without a learner until a limit is reached; how many trajectories there are."""
        config, run = self.config, self.directory
        self._stop.wake = self._arrivals.wake
        with ExitStack() as opened:
            opened.enter_context(run.held(1e9 * config.run.free_gigabytes))
            opened.enter_context(self._stop)
            build_policy(config)  # a model that cannot be opened is better known at once
            store = opened.enter_context(TrajectoryStore(run.trajectories, config.store))
            metrics = opened.enter_context(self._metrics(None))
            episodes = opened.enter_context(LineLog.open(run.episodes))
            ledger = EpisodeLedger(episodes, lambda: metrics.seconds)
            crew = self._crew(Reception(store, self._arrivals, ledger), ledger)
            opened.callback(crew.kill)
            collection = AsynchronousCollection(crew, self._arrivals)
            opened.enter_context(self._view)
            journal = RunJournal(
                run.path.name, config.devices.count, metrics, self._view, ledger, collection
            )
            return CollectionRun(
                config, crew, self._arrivals, ledger, journal, self._stop
            ).collect()

    def _assemble(self, opened: ExitStack, *, resumed: bool) -> TrainingRun:
        """Everything that the run consists of; what is opened is closed by `opened`."""
        config, run = self.config, self.directory
        store = opened.enter_context(TrajectoryStore(run.trajectories, config.store))
        weights = build_weight_store(config, run.weights)
        policy = build_policy(config)
        learner = build_learner(config, policy, self._arrivals, weights)
        state, checkpoints = (
            TrainingState(learner, self._arrivals),
            CheckpointFolder(run.checkpoints),
        )
        if resumed:
            resume(config, state, checkpoints, store, weights)
        else:
            begin(config, state)
        metrics = opened.enter_context(self._metrics(learner.updates if resumed else None))
        episodes = opened.enter_context(LineLog.open(run.episodes))
        ledger = EpisodeLedger(episodes, lambda: metrics.seconds)
        recall(ledger, run, store)
        reception = Reception(store, self._arrivals, ledger)
        collection = self._collection(opened, reception, ledger, state)
        opened.enter_context(self._view)
        archive = RunArchive(
            opened.enter_context(LineLog.open(run.evaluations)),
            opened.enter_context(FilmArchive.open(run)),
            learner,
            config.reporting.films,
        )
        return TrainingRun(
            config=config,
            state=state,
            checkpoints=checkpoints,
            collection=collection,
            ledger=ledger,
            journal=RunJournal(
                run.path.name, config.devices.count, metrics, self._view, ledger, collection
            ),
            archive=archive,
            test=SuccessTest(config, policy, self._stop),
            stop=self._stop,
        )

    # Its parts ----------------------------------------------------------------------------------

    def _metrics(self, resumed_at: int | None) -> Metrics:
        config, run = self.config, self.directory
        sinks: list[MetricSink] = [TensorBoardSink.open(run.tensorboard, resumed_at=resumed_at)]
        if config.reporting.wandb:
            settings = dataclasses.asdict(config)
            sinks.append(WandbSink.open(config.reporting.wandb_project, run.path, settings))
        if resumed_at is None:
            return Metrics.begin(run, sinks)
        return Metrics.resume(run, resumed_at, sinks)

    def _collection(
        self, opened: ExitStack, reception: Reception, ledger: EpisodeLedger, state: TrainingState
    ) -> Collection:
        config = self.config
        if config.learning.learner.mode == "offline":
            return NoCollection()
        if config.collection.mode == "one_process":
            return self._one_process(reception, ledger, state)
        crew = self._crew(reception, ledger)
        crew.supervision.load_states(state.collectors)
        opened.callback(crew.kill)
        if config.collection.mode == "synchronous":
            return SynchronousCollection(crew, self._arrivals, config.devices_per_collector)
        return AsynchronousCollection(crew, self._arrivals)

    def _one_process(
        self, reception: Reception, ledger: EpisodeLedger, state: TrainingState
    ) -> OneProcessCollection:
        config = self.config
        name, _ = new_name(self.directory, 0)
        collector = build_collector(
            config,
            name,
            0,
            sink=DirectSink(reception),
            weights=build_weight_store(config, self.directory.weights),
            admission=FreeAdmission(),
        )
        if 0 in state.collectors:
            collector.load_state(json.loads(state.collectors[0]))
        return OneProcessCollection(collector, ledger, config.devices.count)

    def _crew(self, reception: Reception, ledger: EpisodeLedger) -> CollectorCrew:
        settings = self.config.collection

        def start(number: int, state: str) -> CollectorChild:
            return start_child(self.directory, number, state)

        def lost(child: CollectorChild, trouble: str) -> None:
            crew.lost(child, trouble)

        supervision = Supervision(
            settings.collectors, settings.restarts, settings.heartbeat_seconds, start, lost
        )
        crew = CollectorCrew(
            supervision, reception, ledger, say=self._view.say, wake=self._arrivals.wake
        )
        return crew
