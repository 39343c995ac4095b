"""A run on one machine, or only its collectors.

The learner is in this process; collectors are processes of their own, or, in one-process mode, here
as well.
"""

from __future__ import annotations

import json
from contextlib import ExitStack

from rich.console import Console

from distrl.config.training_config import TrainingConfig
from distrl.engine.ingest.arrival_queue import ArrivalQueue
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.judged_receiver import open_receiver
from distrl.engine.ingest.trajectory_receiver import TrajectoryReceiver
from distrl.engine.local.asynchronous_collection import AsynchronousCollection
from distrl.engine.local.collector_child import CollectorChild, new_name, start_child
from distrl.engine.local.collector_nursery import CollectorNursery
from distrl.engine.local.collector_pool import CollectorPool
from distrl.engine.local.one_process_collection import (
    DirectSink,
    FreeAdmission,
    NoCollection,
    OneProcessCollection,
)
from distrl.engine.local.synchronous_collection import SynchronousCollection
from distrl.engine.run.collection import Collection
from distrl.engine.run.collection_run import CollectionRun
from distrl.engine.run.run_assembly import RunAssembly, check_world, open_metrics
from distrl.engine.run.run_monitor import RunMonitor
from distrl.engine.run.stop_request import StopRequest
from distrl.engine.run.training_state import TrainingState
from distrl.engine.supervision.supervisor import Supervision
from distrl.engine.wiring import (
    build_collector,
    build_policy,
    build_weight_store,
    has_adapters,
)
from distrl.json_lines import LineLog
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.reporting.live_view import LiveView
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import RunResult
from distrl.weights.weight_updater import WeightPoller


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
        with self._stop:
            return RunAssembly(
                self.config,
                self.directory,
                self._view,
                self._stop,
                self._arrivals,
                open_publisher=lambda weights: weights,  # collectors read them from the disk
                open_collection=self._open_collection,
            ).assemble_and_run(resumed=resumed)

    def collect(self) -> int:
        """Collect without a learner until a limit is reached; how many trajectories there are."""
        config, run = self.config, self.directory
        self._stop.wake = self._arrivals.wake
        with ExitStack() as opened:
            opened.enter_context(run.held(1e9 * config.run.free_gigabytes))
            opened.enter_context(self._stop)
            check_world(config, self._view.say)
            build_policy(config)  # a model that cannot be opened is better known at once
            store = opened.enter_context(TrajectoryStore(run.trajectories, config.store))
            metrics = opened.enter_context(open_metrics(config, run, None))
            episodes = opened.enter_context(LineLog.open(run.episodes))
            episode_log = EpisodeLog(episodes, lambda: metrics.seconds)
            receiver = open_receiver(
                config.judge, run, store, self._arrivals, episode_log, self._view.say, opened
            )
            pool = self._pool(opened, receiver, episode_log)
            collection = AsynchronousCollection(pool, self._arrivals)
            opened.enter_context(self._view)
            monitor = RunMonitor(
                run.path.name, config.devices.count, metrics, self._view, episode_log, collection
            )
            return CollectionRun(
                config, pool, self._arrivals, episode_log, monitor, self._stop
            ).collect()

    # Its parts ----------------------------------------------------------------------------------

    def _open_collection(
        self,
        opened: ExitStack,
        receiver: TrajectoryReceiver,
        episode_log: EpisodeLog,
        state: TrainingState,
    ) -> Collection:
        config = self.config
        if config.learning.learner.mode == "offline":
            return NoCollection()
        if config.collection.mode == "one_process":
            return self._one_process(opened, receiver, episode_log, state)
        pool = self._pool(opened, receiver, episode_log)
        pool.supervision.load_states(state.collectors)
        if config.collection.mode == "synchronous":
            return SynchronousCollection(pool, self._arrivals, config.devices_per_collector)
        return AsynchronousCollection(pool, self._arrivals)

    def _one_process(
        self,
        opened: ExitStack,
        receiver: TrajectoryReceiver,
        episode_log: EpisodeLog,
        state: TrainingState,
    ) -> OneProcessCollection:
        config = self.config
        name, _ = new_name(self.directory, 0)
        collector = build_collector(
            config,
            name,
            0,
            sink=DirectSink(receiver),
            weights=WeightPoller(build_weight_store(config, self.directory.weights)),
            admission=FreeAdmission(),
            opened=opened,
            logs=self.directory.path / "logs",
        )
        if 0 in state.collectors:
            collector.load_state(json.loads(state.collectors[0]))
        return OneProcessCollection(collector, episode_log, receiver, config.devices.count)

    def _pool(
        self, opened: ExitStack, receiver: TrajectoryReceiver, episode_log: EpisodeLog
    ) -> CollectorPool:
        settings = self.config.collection
        modules = ["peft"] if has_adapters(self.config) else []
        log = self.directory.path / "logs" / "nursery.log"
        nursery = opened.enter_context(CollectorNursery(log, modules))

        def start(number: int, state: str) -> CollectorChild:
            return start_child(nursery, self.directory, number, state)

        def lost(child: CollectorChild, trouble: str) -> None:
            pool.lost(child, trouble)

        supervision = Supervision(
            settings.collectors,
            settings.restarts,
            settings.heartbeat_seconds,
            start,
            lost,
            nursery.is_ready,
        )
        pool = CollectorPool(
            supervision, receiver, episode_log, say=self._view.say, wake=self._arrivals.wake
        )
        opened.callback(pool.kill)
        return pool
