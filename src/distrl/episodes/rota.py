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
from distrl.episodes.curriculum import State
from distrl.episodes.device_shelf import DeviceShelf
from distrl.episodes.measured_device import MeasuredDevice
from distrl.episodes.task_queue import Assignment, TaskQueue
from distrl.errors import CorruptCheckpoint, DeviceError, WorldError
from distrl.records import Ending

D = TypeVar("D", bound=Device)
Missing = Literal["admission", "device", "task"]


class Admission(Protocol):
    """May an episode start with these weights, behind so many others? A `Learner` can say so.

    It is asked before every start, under a lock, so it must not wait.
    """

    def may_start(self, weight_version: int, in_flight: int) -> bool: ...


@dataclass(slots=True)
class Allowance:
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
class Booking(Generic[D]):
    """A device that has something to play."""

    device: MeasuredDevice[D]
    assignment: Assignment
    episode_id: str
    began: float  # by the wall clock


class Rota(Generic[D]):
    """Books the devices of a shelf for the tasks of a queue."""

    def __init__(
        self,
        name: str,  # episode ids begin with it
        shelf: DeviceShelf[D],
        tasks: TaskQueue,
        admission: Admission | None = None,
    ) -> None:
        self.shelf = shelf
        self.tasks = tasks
        self.started = 0
        self.in_flight = 0
        self._name = name
        self._admission = admission

    def book(self, allowance: Allowance, weight_version: int, now: float) -> Booking[D] | Missing:
        """The next task, on a device that is free and fit; or what is missing for that."""
        if self.nothing_left(allowance):
            return "task"
        if self._admission and not self._admission.may_start(weight_version, self.in_flight):
            return "admission"
        ready = self.shelf.ready(now)
        if not ready:
            return "device"
        choice = self.tasks.choose(ready, fresh=allowance.fresh)
        if choice is None:
            return "task"
        assignment, device = choice
        allowance.spend(assignment)
        self.in_flight += 1
        self.started += 1
        episode_id = f"{self._name}/{self.started}/{assignment.task.id}"
        return Booking(self.shelf.take(device), assignment, episode_id, time.time())

    def nothing_left(self, allowance: Allowance) -> bool:
        return not allowance.fresh and not len(self.tasks)

    def ended(self, booking: Booking[D], ending: Ending, now: float) -> None:
        """It was played, well or badly."""
        self.tasks.ended(booking.assignment, booking.device.name, ending)
        lost = ending is Ending.DEVICE_LOST
        self._give_back(booking, now, fault=None if ending.broken and not lost else lost)

    def failed_to_start(self, booking: Booking[D], error: WorldError, now: float) -> None:
        """There was no first screen."""
        self.tasks.failed(booking.assignment, booking.device.name)
        self._give_back(booking, now, fault=True if isinstance(error, DeviceError) else None)

    def abandoned(self, booking: Booking[D], now: float) -> None:
        """It was cut short, and nobody is to blame: the task is kept."""
        self.tasks.put_back(booking.assignment)
        self._give_back(booking, now, fault=None)

    def _give_back(self, booking: Booking[D], now: float, *, fault: bool | None) -> None:
        self.shelf.give_back(booking.device.name, now, fault=fault)
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
