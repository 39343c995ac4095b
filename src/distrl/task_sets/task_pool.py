"""Task pools, from which curricula draw by template and turn; each collector has its own share.

`NumberedTasks` never end: each turn of a template is a new task (simulated phone, MiniWoB,
MobileGym). `ListedTasks` are a finite list (Android in the Wild, AndroidWorld): every task of a
template comes once per round, in a new random order each round, and the collectors share each round
without overlap.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from distrl.errors import InvalidSetting, UnknownTask
from distrl.records import Split, Task
from phonesim.tasks.task_sets import load_task

NUMBERS = 1_000_000  # distance between the first task numbers of two consecutive seeds


class TaskPool(ABC):
    """Templates, and the part of their tasks for one collector (`share` of `shares`)."""

    def __init__(self, templates: tuple[str, ...], seed: int, share: int, shares: int) -> None:
        if not 0 <= share < shares:
            raise InvalidSetting(f"share={share!r} of shares={shares!r}; shares are counted from 0")
        self.templates = templates
        self.seed = seed
        self.share = share
        self.shares = shares

    @abstractmethod
    def task(self, template: str, turn: int) -> Task:
        """Return the task that this collector draws at the `turn`-th turn of a template, from 0."""

    @abstractmethod
    def find(self, task_id: str) -> Task:
        """Return the task of that id; raise `UnknownTask` if there is none."""

    def rng(self, draw: int) -> random.Random:
        return random.Random(f"curriculum/{self.seed}/{self.share}/{draw}")


class NumberedTasks(TaskPool):
    """A pool of templates with a task for every number; `load` creates the task of an id."""

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
    """A pool of templates of the simulated phone."""

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
            self.task(template, 0)  # raises with suggestions if there is no such template


def _simulated_task(task_id: str) -> Task:
    return load_task(task_id)[0]


class ListedTasks(TaskPool):
    """A pool of the tasks of a finite list."""

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
