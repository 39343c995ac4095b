"""Who plays what: puts a task and a device together, if an episode may start at all.

Every booking is given back exactly once, with what became of it; until then it is in flight. The
rota never waits and reads no clock: it says what is missing, and whoever asks says what time it is.
One thread at a time.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from distrl.devices.device import Device
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.measured_device import MeasuredDevice
from distrl.episodes.task_queue import Assignment, TaskQueue
from distrl.errors import CorruptCheckpoint, DeviceError, WorldError
from distrl.records import Ending
from distrl.task_sets.curriculum import State

D = TypeVar("D", bound=Device)
BlockedOn = Literal["admission", "device", "task"]


class Admission(Protocol):
    """May an episode start with these weights, behind so many others? A `Learner` can say so.

    It is asked before every start, under a lock, so it must not wait.
    """

    def may_start(self, weight_version: int, in_flight: int) -> bool: ...


@dataclass(slots=True)
class EpisodeBudget:
    """How many episodes may still be started; None: any number. Retries are free, if they are."""

    starts: int | None = None
    free_retries: bool = True

    @property
    def fresh(self) -> bool:
        return self.starts is None or self.starts > 0

    def spend(self, assignment: Assignment) -> None:
        if self.starts is not None and (assignment.attempt == 1 or not self.free_retries):
            self.starts -= 1


@dataclass(frozen=True, slots=True)
class Lease(Generic[D]):
    """A device that has something to play."""

    device: MeasuredDevice[D]
    assignment: Assignment
    episode_id: str
    began: float  # by the wall clock


class EpisodeScheduler(Generic[D]):
    """Books the devices of a shelf for the tasks of a queue."""

    def __init__(
        self,
        name: str,  # episode ids begin with it
        device_pool: DevicePool[D],
        tasks: TaskQueue,
        admission: Admission | None = None,
    ) -> None:
        self.device_pool = device_pool
        self.tasks = tasks
        self.started = 0
        self.in_flight = 0
        self._name = name
        self._admission = admission

    def book(
        self, episode_budget: EpisodeBudget, weight_version: int, now: float
    ) -> Lease[D] | BlockedOn:
        """The next task, on a device that is free and fit; or what is missing for that."""
        if self.nothing_left(episode_budget):
            return "task"
        if self._admission and not self._admission.may_start(weight_version, self.in_flight):
            return "admission"
        ready = self.device_pool.ready(now)
        if not ready:
            return "device"
        choice = self.tasks.choose(ready, fresh=episode_budget.fresh)
        if choice is None:
            return "task"
        assignment, device = choice
        episode_budget.spend(assignment)
        self.in_flight += 1
        self.started += 1
        episode_id = f"{self._name}/{self.started}/{assignment.task.id}"
        return Lease(self.device_pool.take(device), assignment, episode_id, time.time())

    def nothing_left(self, episode_budget: EpisodeBudget) -> bool:
        return not episode_budget.fresh and not len(self.tasks)

    def ended(self, lease: Lease[D], ending: Ending, now: float) -> None:
        """It was played, well or badly."""
        self.tasks.ended(lease.assignment, lease.device.name, ending)
        lost = ending is Ending.DEVICE_LOST
        self._give_back(lease, now, fault=None if ending.broken and not lost else lost)

    def failed_to_start(self, lease: Lease[D], error: WorldError, now: float) -> None:
        """There was no first screen."""
        self.tasks.failed(lease.assignment, lease.device.name)
        self._give_back(lease, now, fault=True if isinstance(error, DeviceError) else None)

    def abandoned(self, lease: Lease[D], now: float) -> None:
        """It was cut short, and nobody is to blame: the task is kept."""
        self.tasks.put_back(lease.assignment)
        self._give_back(lease, now, fault=None)

    def _give_back(self, lease: Lease[D], now: float, *, fault: bool | None) -> None:
        self.device_pool.give_back(lease.device.name, now, fault=fault)
        self.in_flight -= 1

    def state(self) -> State:
        return {"started": self.started, "tasks": self.tasks.state()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        started, tasks = state.get("started"), state.get("tasks")
        if not isinstance(started, int) or started < 0 or not isinstance(tasks, Mapping):
            raise CorruptCheckpoint(
                f"this is no state of a collector: started={started!r}, tasks={type(tasks)}; take "
                "an older checkpoint"
            )
        self.tasks.load_state(tasks)
        self.started = started
