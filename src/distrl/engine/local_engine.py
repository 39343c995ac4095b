"""A run on one machine, or only its collectors.

The learner is in this process; collectors are processes of their own, or, in one-process mode, here
as well.
"""

from __future__ import annotations

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
from distrl.engine.collector_nursery import CollectorNursery
from distrl.engine.episode_ledger import EpisodeLedger
from distrl.engine.judged_reception import open_reception
from distrl.engine.one_process_collection import (
    DirectSink,
    FreeAdmission,
    NoCollection,
    OneProcessCollection,
)
from distrl.engine.preflight import check_world
from distrl.engine.reception import Reception
from distrl.engine.run_assembly import RunAssembly
from distrl.engine.run_journal import RunJournal
from distrl.engine.stop_request import StopRequest
from distrl.engine.supervision import Supervision
from distrl.engine.synchronous_collection import SynchronousCollection
from distrl.engine.training_state import TrainingState
from distrl.engine.weight_poll import WeightPoll
from distrl.engine.wiring import (
    build_collector,
    build_policy,
    build_weight_store,
    has_adapters,
)
from distrl.replay.trajectory_store import TrajectoryStore
from distrl.reporting.json_lines import LineLog
from distrl.reporting.live_view import LiveView
from distrl.reporting.run_directory import RunDirectory
from distrl.reporting.run_records import RunResult
from distrl.weights.weight_store import WeightStore


class LocalEngine:
    """Runs one training run in its directory, and implements its `Arrangement`. Use it once."""

    def __init__(self, config: TrainingConfig, run: RunDirectory, console: Console) -> None:
        self.config = config
        self.directory = run
        self._view = LiveView(console, line_seconds=config.reporting.line_seconds)
        self._arrivals = ArrivalQueue()
        self._stop = StopRequest()
        self._assembly = RunAssembly(config, run, self._view, self._stop, self._arrivals)

    def train(self, *, resumed: bool = False) -> RunResult:
        """Train to the end, write result and report. `StopRequested`: it was stopped before."""
        self._stop.wake = self._arrivals.wake
        with self._stop:
            return self._assembly.train(self, resumed=resumed)

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
            metrics = opened.enter_context(self._assembly.metrics(None))
            episodes = opened.enter_context(LineLog.open(run.episodes))
            ledger = EpisodeLedger(episodes, lambda: metrics.seconds)
            reception = open_reception(
                config.judge, run, store, self._arrivals, ledger, self._view.say, opened
            )
            crew = self._crew(opened, reception, ledger)
            collection = AsynchronousCollection(crew, self._arrivals)
            opened.enter_context(self._view)
            journal = RunJournal(
                run.path.name, config.devices.count, metrics, self._view, ledger, collection
            )
            return CollectionRun(
                config, crew, self._arrivals, ledger, journal, self._stop
            ).collect()

    # Its parts ----------------------------------------------------------------------------------

    def publisher(self, weights: WeightStore) -> WeightStore:
        """Collectors read what is published from the disk."""
        return weights

    def collection(
        self, opened: ExitStack, reception: Reception, ledger: EpisodeLedger, state: TrainingState
    ) -> Collection:
        config = self.config
        if config.learning.learner.mode == "offline":
            return NoCollection()
        if config.collection.mode == "one_process":
            return self._one_process(opened, reception, ledger, state)
        crew = self._crew(opened, reception, ledger)
        crew.supervision.load_states(state.collectors)
        if config.collection.mode == "synchronous":
            return SynchronousCollection(crew, self._arrivals, config.devices_per_collector)
        return AsynchronousCollection(crew, self._arrivals)

    def _one_process(
        self, opened: ExitStack, reception: Reception, ledger: EpisodeLedger, state: TrainingState
    ) -> OneProcessCollection:
        config = self.config
        name, _ = new_name(self.directory, 0)
        collector = build_collector(
            config,
            name,
            0,
            sink=DirectSink(reception),
            weights=WeightPoll(build_weight_store(config, self.directory.weights)),
            admission=FreeAdmission(),
            opened=opened,
            logs=self.directory.path / "logs",
        )
        if 0 in state.collectors:
            collector.load_state(json.loads(state.collectors[0]))
        return OneProcessCollection(collector, ledger, reception, config.devices.count)

    def _crew(
        self, opened: ExitStack, reception: Reception, ledger: EpisodeLedger
    ) -> CollectorCrew:
        settings = self.config.collection
        modules = ["peft"] if has_adapters(self.config) else []
        log = self.directory.path / "logs" / "nursery.log"
        nursery = opened.enter_context(CollectorNursery(log, modules))

        def start(number: int, state: str) -> CollectorChild:
            return start_child(nursery, self.directory, number, state)

        def lost(child: CollectorChild, trouble: str) -> None:
            crew.lost(child, trouble)

        supervision = Supervision(
            settings.collectors,
            settings.restarts,
            settings.heartbeat_seconds,
            start,
            lost,
            nursery.is_ready,
        )
        crew = CollectorCrew(
            supervision, reception, ledger, say=self._view.say, wake=self._arrivals.wake
        )
        opened.callback(crew.kill)
        return crew
