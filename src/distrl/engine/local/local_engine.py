"""Runs a training, or only its collectors, on one machine.

The learner runs in this process. Collectors are processes of their own or, in one-process mode, run
here as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from types import MappingProxyType

from rich.console import Console

from distrl.config.training_config import TrainingConfig
from distrl.engine.adb_wiring import lease_phones
from distrl.engine.device_wiring import is_dry
from distrl.engine.ingest.deferred_judging import open_receiver
from distrl.engine.ingest.delivery import ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Encodings, Pace
from distrl.engine.local.collector_pool import PRELOAD, CollectorPool, Forkserver
from distrl.engine.local.evaluation_process import EvaluationProcesses
from distrl.engine.local.one_process_collection import OneProcessCollection
from distrl.engine.local.policy_supervisor import PolicySupervisor
from distrl.engine.local.shared_encodings import encoding_receiver
from distrl.engine.local.synchronous_collection import Rounds, SynchronousCollection
from distrl.engine.run.collection import AsynchronousCollection, Collection
from distrl.engine.run.preflight import preflight
from distrl.engine.run.resume import TrainingState
from distrl.engine.run.run_assembly import RunAssembly, check_server, open_metrics
from distrl.engine.run.run_card import note_card
from distrl.engine.run.run_monitor import RunMonitor
from distrl.engine.run.stop_request import StopRequest, progress
from distrl.engine.supervision.collector_registry import CollectorRegistry
from distrl.engine.supervision.process_names import new_name
from distrl.engine.supervision.restart_budget import SILENT_HEARTBEATS
from distrl.engine.supervision.room_shares import RoomShares
from distrl.engine.wiring import (
    build_collector,
    build_policy,
    build_weight_poller,
    build_weight_store,
    has_adapters,
)
from distrl.json_lines import LineLog
from distrl.learning.learner_report import LearnerStatus
from distrl.records import DRY_RUN_MARK
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.reporting.live_view import LiveView
from distrl.runs.metrics import CallbackSink, OnPoint
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import RunResult

WAIT_SECONDS = 0.25  # for arrivals, before the view is shown anew
FINISH_SECONDS = 30.0  # for episodes in flight at the end of `collect`: no learner waits
NO_LEARNER = LearnerStatus(0, 0, 0.0, 0.0, {}, {})


def tasks_per_round(config: TrainingConfig) -> list[int]:
    """Return, for each collector, the most devices that any collector of its environment has."""
    return [
        config.of_collector(number)[0].devices_per_collector
        for number in range(config.collector_count)
    ]


class LocalEngine:
    """Runs one training run in its directory. Use it once."""

    def __init__(
        self,
        config: TrainingConfig,
        run: RunDirectory,
        console: Console,
        on_point: OnPoint | None = None,  # gets each metrics point; returns True to stop the run
    ) -> None:
        self.config = config
        self.directory = run
        seconds, mark = config.reporting.line_seconds, DRY_RUN_MARK if is_dry(config) else ""
        self._view = LiveView(console, line_seconds=seconds, mark=mark)
        self._arrivals = ArrivalQueue()
        self._stop = StopRequest()
        self._sinks = [] if on_point is None else [CallbackSink(on_point, self._stop.ask)]

    def stop(self) -> None:
        """Ask for an orderly end, from any thread; the run can be resumed."""
        self._stop.ask()

    def train(self, *, resumed: bool = False, accept_losses: bool = False) -> RunResult:
        """Train to the end, write result and report; raise `StopRequested` if stopped before."""
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
                lane=self._lane,
                sinks=self._sinks,
            ).assemble_and_run(resumed=resumed, accept_losses=accept_losses)

    def collect(self) -> int:
        """Collect without a learner until a limit; return the number of trajectories."""
        config, run = self.config, self.directory
        self._stop.wake = self._arrivals.wake
        with ExitStack() as opened:
            opened.enter_context(run.held(1e9 * config.run.free_gigabytes))
            opened.enter_context(self._stop)
            opened.enter_context(self._view)
            lease_phones(config, run.path, opened, self._view.say)
            preflight(config.unmeasured(), run.path, self._view.say)
            note_card(config, run)
            policy = build_policy(config)  # fail now if it cannot be opened
            check_server(config, run, policy, self._view.say)
            del policy
            store = opened.enter_context(TrajectoryStore(run.trajectories, config.store))
            metrics = opened.enter_context(open_metrics(config, run, None, self._sinks))
            episodes = opened.enter_context(LineLog.open(run.episodes))
            episode_log = EpisodeLog(
                episodes, lambda: metrics.seconds, environments=list(config.environments)
            )
            receiver = open_receiver(
                config, run, store, self._arrivals, episode_log, self._view.say, opened
            )
            collection = self._asynchronous(opened, receiver, episode_log)
            monitor = RunMonitor(
                run.path.name,
                config.device_count,
                metrics,
                self._view,
                episode_log,
                collection,
                note_fault=opened.enter_context(LineLog.open(run.device_faults)).append,
            )
            self._collect(collection, episode_log, monitor)
            return episode_log.trajectories

    def _collect(
        self, collection: AsynchronousCollection, episode_log: EpisodeLog, monitor: RunMonitor
    ) -> None:
        """Collect until a limit of the run is reached, or a stop is requested."""

        def done() -> float:
            return progress(
                self.config.run,
                training_seconds=monitor.seconds,
                trajectories=episode_log.trajectories,
            )

        collection.set_pace(Pace(version=0, free=True))
        collection.start()
        monitor.begin("collecting", NO_LEARNER, 0.0)
        while done() < 1.0 and not self._stop.asked:
            collection.wait(WAIT_SECONDS)
            while len(self._arrivals):  # they are stored, and no learner takes them
                self._arrivals.popleft()
            monitor.look(NO_LEARNER, done(), 0)
        collection.stop(0.0 if self._stop.asked else FINISH_SECONDS)

    @property
    def _lane(self) -> EvaluationProcesses | None:
        """Processes for evaluations; None in one process or offline: they interrupt training."""
        return None if self.config.in_one_process else EvaluationProcesses(self.directory)

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
            return Collection()
        if config.collection.mode == "one_process":
            return self._one_process(opened, receiver, episode_log, state)
        in_rounds = config.collection.mode == "synchronous"
        return self._asynchronous(
            opened,
            receiver,
            episode_log,
            state.collectors,
            in_rounds=in_rounds,
            on_encodings=encoding_receiver(state.learner.policy),
        )

    def _one_process(
        self,
        opened: ExitStack,
        receiver: TrajectoryReceiver,
        episode_log: EpisodeLog,
        state: TrainingState,
    ) -> OneProcessCollection:
        config, collectors = self.config, []
        for number in range(config.collector_count):
            collector = build_collector(
                config,
                new_name(self.directory, number),
                number,
                sink=receiver,
                weights=build_weight_poller(config, self.directory.weights),
                admission=None,  # collecting and learning take turns: nothing gets stale
                opened=opened,
                logs=self.directory.path / "logs",
            )
            if number in state.collectors:
                collector.load_state(json.loads(state.collectors[number]))
            collectors.append(collector)
        at_once = [each.devices.count for each in config.by_environment().values()]
        return OneProcessCollection(collectors, episode_log, receiver, at_once)

    def _asynchronous(
        self,
        opened: ExitStack,
        receiver: TrajectoryReceiver,
        episode_log: EpisodeLog,
        states: Mapping[int, str] = MappingProxyType({}),
        *,
        in_rounds: bool = False,
        on_encodings: Callable[[Encodings], None] | None = None,
    ) -> AsynchronousCollection:
        """Build collectors in processes of their own, and the policy process if there is one."""
        config, arrivals = self.config, self._arrivals
        settings = config.collection
        registry = CollectorRegistry(
            count=config.collector_count,
            restarts=settings.restarts,
            silent_seconds=SILENT_HEARTBEATS * settings.heartbeat_seconds,
            run=self.directory,
            episode_log=episode_log,
            waiting=lambda: len(arrivals) + receiver.unjudged,
            wanted=lambda: receiver.room,
            shares=RoomShares.of(config),
            say=self._view.say,
            wake=arrivals.wake,
        )
        registry.load_states(states)
        forkserver = opened.enter_context(
            Forkserver([PRELOAD, "peft"] if has_adapters(config) else [PRELOAD])
        )
        check_policy: Callable[[], None] | None = None
        if config.one_policy_per_node:
            policy = opened.enter_context(
                PolicySupervisor(
                    self.directory,
                    forkserver,
                    settings.restarts,
                    SILENT_HEARTBEATS * settings.heartbeat_seconds,
                    self._view.say,
                    on_encodings,
                )
            )
            check_policy, on_encodings = policy.check, None  # collectors encode nothing
        collection: AsynchronousCollection
        if in_rounds:
            rounds, tasks = Rounds(arrivals.wake), tasks_per_round(config)
            pool = CollectorPool(registry, forkserver, rounds, on_encodings, check_policy)
            collection = SynchronousCollection(registry, pool, receiver, arrivals, rounds, tasks)
        else:
            pool = CollectorPool(registry, forkserver, None, on_encodings, check_policy)
            collection = AsynchronousCollection(registry, pool, receiver, arrivals)
        opened.callback(collection.kill)
        if config.engine.join.listen:
            self._listen(opened, registry, receiver)
        return collection

    def _listen(
        self, opened: ExitStack, registry: CollectorRegistry, receiver: TrajectoryReceiver
    ) -> None:
        """Let collectors on other machines join the run, and tell the user how."""
        from distrl.engine.join.join_listener import open_listener

        weights = build_weight_store(self.config, self.directory.weights)
        words = open_listener(self.config, self.directory, registry, receiver, weights, opened)
        self._view.say(words)
