"""What a curriculum draws from: tasks by template and turn; each collector has its own share.

`NumberedTasks` never end: each turn of a template is a new task (simulated ones, MiniWoB,
MobileGym). `ListedTasks` are a finite list (Android in the Wild, AndroidWorld): every one of a
template comes once a round, in an order that changes from round to round, and the collectors go
through each round together without overlap.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from distrl.errors import InvalidSetting, UnknownTask
from distrl.records import Split, Task
from phonesim.tasks.task_sets import load_task

NUMBERS = 1_000_000  # how far apart the task numbers of two seeds begin


class TaskPool(ABC):
    """Templates, and the tasks of them that belong to one collector (`share` of `shares`)."""

    def __init__(self, templates: tuple[str, ...], seed: int, share: int, shares: int) -> None:
        if not 0 <= share < shares:
            raise InvalidSetting(f"share={share!r} of shares={shares!r}; shares are counted from 0")
        self.templates = templates
        self.seed = seed
        self.share = share
        self.shares = shares

    @abstractmethod
    def task(self, template: str, turn: int) -> Task:
        """The task that this collector draws when a template's turn comes for the n-th time."""

    @abstractmethod
    def find(self, task_id: str) -> Task:
        """The task of that id; `UnknownTask` if there is none."""

    def rng(self, draw: int) -> random.Random:
        return random.Random(f"curriculum/{self.seed}/{self.share}/{draw}")


class NumberedTasks(TaskPool):
    """By templates of which there is a task for every number; `load` makes the task of an id."""

    def __init__(
        self,
        templates: tuple[str, ...],
        load: Callable[[str], Task],
        split: Split = "train",
        seed: int = 0,
        share: int = 0,
        shares: int = 1,
    ) -> None:
        super().__init__(templates, seed, share, shares)
        self.split = split
        self._load = load

    def task(self, template: str, turn: int) -> Task:
        number = self.seed * NUMBERS + turn * self.shares + self.share
        return self._load(f"{template}/{self.split}/{number}")

    def find(self, task_id: str) -> Task:
        return self._load(task_id)


class SimulatedTasks(NumberedTasks):
    """By the simulated phone's templates."""

    def __init__(
        self,
        templates: tuple[str, ...],
        split: Split = "train",
        seed: int = 0,
        share: int = 0,
        shares: int = 1,
    ) -> None:
        if not templates:
            raise UnknownTask("a task pool without templates; name one or more")
        super().__init__(templates, _simulated_task, split, seed, share, shares)
        for template in templates:
            self.task(template, 0)  # raises, and says which name or split would do


def _simulated_task(task_id: str) -> Task:
    return load_task(task_id)[0]


class ListedTasks(TaskPool):
    """By a list of tasks."""

    def __init__(
        self, tasks: Sequence[Task], seed: int = 0, share: int = 0, shares: int = 1
    ) -> None:
        if not tasks:
            raise UnknownTask("a task pool without tasks; give one or more")
        self._by_id = {task.id: task for task in tasks}
        self._by_template: dict[str, list[Task]] = {}
        for task in self._by_id.values():
            self._by_template.setdefault(task.template, []).append(task)
        super().__init__(tuple(self._by_template), seed, share, shares)

    def task(self, template: str, turn: int) -> Task:
        tasks = self._by_template[template]
        epoch, place = divmod(turn * self.shares + self.share, len(tasks))
        order = random.Random(f"listed/{self.seed}/{template}/{epoch}")
        return order.sample(tasks, len(tasks))[place]

    def find(self, task_id: str) -> Task:
        if task_id not in self._by_id:
            raise UnknownTask(
                f"{task_id!r} is none of the {len(self._by_id)} tasks listed here, such as "
                f"{next(iter(self._by_id))!r}; a run is resumed with the files or the suite that "
                "it was begun with"
            )
        return self._by_id[task_id]
