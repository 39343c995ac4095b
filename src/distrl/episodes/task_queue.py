"""What a collector has to play: fresh tasks from its source, and those that a fault cut short.

A task that no verdict came of is tried again, on a device that did not fail it yet, up to
`max_attempts` times in all; retries come before fresh tasks. What was put back unplayed when a
collector stopped comes first when it goes on. One thread at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from distrl.errors import CorruptCheckpoint, InvalidSetting, UnknownTask
from distrl.records import Ending, Task
from distrl.task_sets.curriculum import State, TaskSource


@dataclass(frozen=True, slots=True)
class Assignment:
    """A task to try. `failed_on` names the devices that failed at it."""

    task: Task
    attempt: int = 1
    failed_on: tuple[str, ...] = ()


class TaskQueue:
    """Gives assignments to devices and takes them back. `devices` is how many there are in all."""

    def __init__(self, source: TaskSource, devices: int, max_attempts: int = 3) -> None:
        if max_attempts < 1:
            raise InvalidSetting(f"max_attempts={max_attempts!r}; give 1 or more")
        self._source = source
        self._devices = devices
        self._max_attempts = max_attempts
        self._waiting: list[Assignment] = []
        self.retried = 0  # attempts that another one followed
        self.given_up = 0  # tasks that no attempt brought to a verdict

    def __len__(self) -> int:
        """How many wait to be tried again."""
        return len(self._waiting)

    def choose(self, ready: Sequence[str], *, fresh: bool = True) -> tuple[Assignment, str] | None:
        """What comes next, and on which of the devices that are ready; None if nothing fits."""
        for place, assignment in enumerate(self._waiting):
            for device in ready:
                if self._may_try(assignment, device):
                    return self._waiting.pop(place), device
        return (Assignment(self._source.next_task()), ready[0]) if fresh else None

    def _may_try(self, assignment: Assignment, device: str) -> bool:
        """Another device than those that failed; if all of them did, any."""
        return device not in assignment.failed_on or len(assignment.failed_on) >= self._devices

    def ended(self, assignment: Assignment, device: str, ending: Ending) -> None:
        """An attempt has ended; without a verdict it is made again, if it may."""
        self._source.hear(assignment.task, ending)
        if ending.broken:
            self.failed(assignment, device)

    def failed(self, assignment: Assignment, device: str) -> None:
        """Nothing came of an attempt, and that was not the agent's doing."""
        if assignment.attempt >= self._max_attempts:
            self.given_up += 1
            return
        self.retried += 1
        failed_on = tuple(dict.fromkeys((*assignment.failed_on, device)))
        self._waiting.append(Assignment(assignment.task, assignment.attempt + 1, failed_on))

    def put_back(self, assignment: Assignment) -> None:
        """It was not played to its end, and nobody is to blame."""
        self._waiting.append(assignment)

    def state(self) -> State:
        waiting = [[each.task.id, each.attempt, list(each.failed_on)] for each in self._waiting]
        return {"source": self._source.state(), "waiting": waiting}

    def load_state(self, state: Mapping[str, Any]) -> None:
        try:
            waiting = [
                Assignment(self._source.find(str(task)), int(attempt), tuple(map(str, failed_on)))
                for task, attempt, failed_on in state["waiting"]
            ]
            source = state["source"]
        except (KeyError, TypeError, ValueError, AttributeError, UnknownTask) as error:
            raise CorruptCheckpoint(
                f"this is no state of a task queue ({type(error).__name__}: {error}); take an "
                "older checkpoint"
            ) from error
        self._source.load_state(source)
        self._waiting = waiting
