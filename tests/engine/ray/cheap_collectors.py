"""Collectors without a model, for tests that start a great many of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from distrl.engine.supervision.collector_registry import CollectorInfo
from distrl.episodes.collector import Collector
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import PolicyBatcher, PolicyBatcherSettings
from distrl.episodes.scheduler import Admission
from distrl.episodes.trajectory_sink import TrajectorySink
from distrl.records import Decision, Done, Home, Observation
from distrl.task_sets.curriculum import UniformTasks
from distrl.task_sets.task_pool import SimulatedTasks
from distrl.weights.weight_store import WeightSource
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge

PHONES = 2
SLOW_SECONDS = 0.5  # for a decision, until there is the file


class HurriedPolicy:
    """Goes home and is done. It takes its time until somebody makes the file `hurry`."""

    def __init__(self, hurry: Path) -> None:
        self._hurry = hurry

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        if not self._hurry.exists():
            time.sleep(SLOW_SECONDS)
        return [Decision(Done() if each.past_actions else Home()) for each in observations]


class CheapBuild:
    """Builds such collectors."""

    def __init__(self, hurry: Path) -> None:
        self._hurry = hurry

    def __call__(
        self,
        info: CollectorInfo,
        sink: TrajectorySink,
        weights: WeightSource,
        admission: Admission,
        opened: ExitStack,
    ) -> Collector[Any]:
        names = [f"phone-{info.number}-{n}" for n in range(PHONES)]
        return Collector(
            name=info.name,
            batcher=PolicyBatcher(
                HurriedPolicy(self._hurry), PolicyBatcherSettings(max_wait_seconds=0.0)
            ),
            device_pool=DevicePool([SimulatedDevice(name) for name in names]),
            source=UniformTasks(SimulatedTasks(("clock.turn_off_alarm",))),
            sink=sink,
            judge_for=FactJudge,
            admission=admission,
        )
