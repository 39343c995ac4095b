"""Collectors without a model, for tests that start a great many of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from distrl.devices.simulated.simulated_device import SimulatedDevice
from distrl.engine.collector_office import Badge
from distrl.episodes.collector import Collector, TrajectorySink
from distrl.episodes.curriculum import UniformTasks
from distrl.episodes.decision_desk import DecisionDesk, DeskSettings
from distrl.episodes.device_shelf import DeviceShelf
from distrl.episodes.rota import Admission
from distrl.episodes.task_pool import SimulatedTasks
from distrl.episodes.weight_renewal import WeightSource
from distrl.records import Decision, Done, Home, Observation
from distrl.tasks.judge import FactJudge

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
        badge: Badge,
        sink: TrajectorySink,
        weights: WeightSource,
        admission: Admission,
        opened: ExitStack,
    ) -> Collector[Any]:
        names = [f"phone-{badge.number}-{n}" for n in range(PHONES)]
        return Collector(
            name=badge.name,
            desk=DecisionDesk(HurriedPolicy(self._hurry), DeskSettings(linger_seconds=0.0)),
            shelf=DeviceShelf([SimulatedDevice(name) for name in names]),
            source=UniformTasks(SimulatedTasks(("clock.turn_off_alarm",))),
            sink=sink,
            judge_for=FactJudge,
            admission=admission,
        )
