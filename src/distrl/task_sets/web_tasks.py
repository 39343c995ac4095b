"""Tasks on the user's own web apps, from a TOML file: a URL, an instruction, and how to judge it.

    [[task]]
    name = "basket.add"
    url = "http://127.0.0.1:8000/"
    instruction = "Put the red shoes into the basket."
    step_limit = 15
    before = "localStorage.clear()"             # JavaScript, once the page has loaded
    done = "basket.includes('red shoes')"       # JavaScript, true when the task is done
    shows = [{ role = "heading", text = "Basket (1)*" }]   # elements on the last screen

If both `done` and `shows` are given, both must hold; `answer` is a pattern for the agent's answer.
A task with none of them needs a judge of whole trajectories (judge.kind = "vlm"). The file is the
user's own and trusted: its JavaScript runs only in the page.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from distrl.devices.browser.allowed_origins import origin_of
from distrl.devices.browser.browser_device import BrowserDevice
from distrl.errors import DeviceError, InvalidSetting, JudgeError, UnknownTask
from distrl.hierarchy import Element
from distrl.records import Task, Verdict
from distrl.toml_file import read_toml_file

JUDGE = "page"
PREFIX = "web."
Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,79}$")]
Steps = Annotated[int, msgspec.Meta(ge=1, le=200)]


class Shown(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Patterns that an element must match; the defaults match any element."""

    role: str = "*"
    text: str = "*"
    value: str = "*"
    checked: bool | None = None

    def fits(self, element: Element) -> bool:
        words = ((element.role, self.role), (element.text, self.text), (element.value, self.value))
        return all(fnmatchcase(word, pattern) for word, pattern in words) and (
            self.checked is None or self.checked == element.checked
        )


class WebTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One task as it is written in the file."""

    name: Name
    url: str
    instruction: Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]
    split: Literal["train", "test"] = "train"
    step_limit: Steps = 20
    before: str = ""
    done: str = ""
    shows: tuple[Shown, ...] = ()
    answer: str = ""

    @property
    def judged(self) -> bool:
        """Whether the task itself defines when it is done."""
        return bool(self.done or self.shows or self.answer)

    def task(self, number: int) -> Task:
        return Task(
            id=f"{PREFIX}{self.name}/{self.split}/{number}",
            instruction=self.instruction,
            family="general",
            template=f"{PREFIX}{self.name}",
            split=self.split,
            seed=number,
            apps=(),
            difficulty="medium",
            step_limit=self.step_limit,
        )


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    task: tuple[WebTask, ...]


class WebTasks:
    """The tasks of a file; an id ends with the task's index in it."""

    def __init__(self, tasks: tuple[WebTask, ...]) -> None:
        self._by_id = {each.task(place).id: each for place, each in enumerate(tasks)}
        self.tasks = tuple(each.task(place) for place, each in enumerate(tasks))

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.url for each in self._by_id.values()))

    def find(self, task_id: str) -> WebTask:
        if task_id not in self._by_id:
            raise UnknownTask(f"{task_id!r} is none of the {len(self._by_id)} tasks of the file")
        return self._by_id[task_id]

    @property
    def unjudged(self) -> tuple[str, ...]:
        """The names of the tasks that do not define when they are done."""
        return tuple(each.name for each in self._by_id.values() if not each.judged)


def load_web_tasks(path: Path) -> WebTasks:
    """Load the tasks of a TOML file; raise `InvalidSetting` with the place of an error in it."""
    try:
        read = msgspec.convert(read_toml_file(path), _File)
    except msgspec.ValidationError as error:
        raise InvalidSetting(f"{path}: {error}; docs/browser.md shows a whole task") from error
    except (OSError, ValueError) as error:
        raise InvalidSetting(
            f"{path}: {error}; give a TOML file of tasks, as docs/browser.md shows"
        ) from error
    if not read.task:
        raise InvalidSetting(f"{path} has no [[task]]; give one or more")
    for each in read.task:
        origin_of(each.url)
    return WebTasks(read.task)


class WebJudge:
    """Implements `Judge` by the task's own conditions on page, elements and answer."""

    def __init__(self, device: BrowserDevice, tasks: WebTasks) -> None:
        self._device = device
        self._tasks = tasks
        self._task: WebTask | None = None

    def begin(self, task: Task) -> None:
        self._task = self._tasks.find(task.id)
        self._device.open(self._task.url)
        if self._task.before:
            self._device.prepare(self._task.before)

    def verdict(self, answer: str | None) -> Verdict:
        if self._task is None:
            raise JudgeError("a verdict was asked for before a task was begun")
        try:
            missing = self._missing(self._task, answer)
        except DeviceError as error:
            raise JudgeError(f"the task {self._task.name} could not be judged: {error}") from error
        return Verdict(not missing, missing, JUDGE)

    def _missing(self, task: WebTask, answer: str | None) -> str:
        """Return the first condition that does not hold; empty if the task is done."""
        if self._device.dialog is not None:
            return "a dialog waits for an answer"
        if task.answer and not fnmatchcase((answer or "").casefold(), task.answer.casefold()):
            return f"the answer is {answer!r}, and not {task.answer!r}"
        if task.done and self._device.evaluate(f"Boolean({task.done})") is not True:
            return f"{task.done!r} is not true"
        elements = self._device.elements() if task.shows else ()
        lacking = [each for each in task.shows if not any(map(each.fits, elements))]
        return f"the screen does not show {lacking[0]}" if lacking else ""
