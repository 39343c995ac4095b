"""Joined collectors without a model, run in threads, for tests and benchmarks."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from distrl.config.training_config import TrainingConfig
from distrl.engine.join.joined_collector import Build, JoinedCollector, OwnSettings
from distrl.engine.join.learner_client import LearnerClient
from distrl.engine.join.trajectory_spool import TrajectorySpool
from distrl.engine.run.stop_request import StopRequest
from distrl.episodes.collector import Collector
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import DecisionService, PolicyBatcher, PolicyBatcherSettings
from distrl.episodes.scheduler import Admission
from distrl.episodes.trajectory_sink import TrajectorySink
from distrl.records import Decision, Done, Observation
from distrl.task_sets.curriculum import UniformTasks
from distrl.task_sets.task_pool import SimulatedTasks
from distrl.watched_threads import WatchedThreads
from distrl.weights.weight_store import WeightSource
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge


class InAThread(StopRequest):
    """A `StopRequest` without signal handlers, which only the main thread may set."""

    def __enter__(self) -> InAThread:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class DonePolicy:
    """A policy that answers "done" at once."""

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return [Decision(Done()) for _ in observations]


def build_cheap(
    config: TrainingConfig,
    name: str,
    sink: TrajectorySink,
    weights: WeightSource,  # noqa: ARG001 — this policy has none
    admission: Admission,
    opened: ExitStack,  # noqa: ARG001 — nothing is to be closed
    batcher: DecisionService | None = None,
) -> Collector[Any]:
    names = [f"phone-{n}" for n in range(config.devices.count)]
    return Collector(
        name=name,
        batcher=batcher or PolicyBatcher(DonePolicy(), PolicyBatcherSettings(max_wait_seconds=0.0)),
        device_pool=DevicePool([SimulatedDevice(each) for each in names]),
        source=UniformTasks(SimulatedTasks(config.tasks.template_names, seed=config.run.seed)),
        sink=sink,
        judge_for=FactJudge,
        admission=admission,
    )


@dataclass
class CheapJoined:
    """A joined collector that runs in a thread until it ends."""

    spool: TrajectorySpool
    stop: StopRequest
    thread: WatchedThreads
    ended: threading.Event
    said: list[str] = field(default_factory=list)


def join_cheaply(
    client: LearnerClient,
    spool: TrajectorySpool,
    opened: ExitStack,
    give_up_seconds: float = float("inf"),
    build: Build = build_cheap,
    learner_decides: bool = False,
) -> CheapJoined:
    """Start a joined collector; closing `opened` stops it and closes its spool."""
    opened.enter_context(client)
    opened.enter_context(spool)
    said, ended, stop = list[str](), threading.Event(), InAThread()
    collector = JoinedCollector(
        client,
        spool,
        OwnSettings(None, ["devices.count=2"]),
        2,
        give_up_seconds,
        said.append,
        build,
        stop,
        learner_decides,
    )
    thread = WatchedThreads("joined", collector.run, ended.set)
    joined = CheapJoined(spool, stop, thread, ended, said)

    def end() -> None:
        stop.asked = True
        stop.wake()
        thread.join(60.0)

    opened.callback(end)
    thread.start()
    return joined
