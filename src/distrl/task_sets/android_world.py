"""Adapter for AndroidWorld: its tasks, its phone and its scores as `Task`, `Device` and `Judge`.

AndroidWorld runs phone, tasks and judging in one container, which is reached over HTTP
(`android_world_container`). One host is one phone:

    with AndroidWorldPhone("phone-1", host) as phone:
        judge = AndroidWorldJudge(phone)
        for task in android_world_tasks(host):
            run_episode(task, phone, policy, judge)

`begin` initialises a task; the next reset, or closing the phone, tears it down, also after a fault,
so that no task sees the state of another one. The agent's answer is sent before the score is read,
because question tasks are scored by it. Scores above one half are successes, as in AndroidWorld.
Elements are not available. `json_action` translates actions: a swipe becomes a scroll in its main
direction over the whole screen, waits have AndroidWorld's own length, and after typing AndroidWorld
presses Enter itself.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from distrl import records as r
from distrl.errors import DeviceError, DeviceNotReady, InvalidAction, JudgeError, UnknownTask
from distrl.hierarchy import Element

if TYPE_CHECKING:
    from distrl.task_sets.android_world_container import AndroidWorldContainer  # needs httpx

STEP_LIMIT = 20
PREFIX = "android_world."
JUDGE = "android_world"


def android_world_tasks(host: AndroidWorldContainer, split: r.Split = "test") -> Iterator[r.Task]:
    """Yield every task of the host's suite; its seed (`new_suite`) determines the parameters."""
    for task_type in host.task_types():
        for number in range(host.combinations(task_type)):
            template = f"{PREFIX}{task_type}"
            yield r.Task(
                id=f"{template}/{split}/{number}",
                instruction=host.goal(task_type, number),
                family="general",
                template=template,
                split=split,
                seed=number,
                apps=(),
                difficulty="medium",
                step_limit=STEP_LIMIT,
            )


class AndroidWorldPhone:
    """Implements `Device` on an AndroidWorld host, which it owns and closes."""

    blocking = True

    def __init__(self, name: str, host: AndroidWorldContainer) -> None:
        self.name = name
        self.host = host
        self._began = 0.0
        self._ready = False
        self._size = (0, 0)
        self._task: tuple[str, int] | None = None  # initialised and not torn down yet

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began if self._began else 0.0

    def reset(self, seed: int) -> None:
        """Tear down the previous task and go home. `seed` has no effect: the suite has its own."""
        self._began = time.monotonic()
        self._ready = False
        self._tear_down()
        self.host.reset()
        self._ready = True

    def screen(self) -> r.Screen:
        with self._working():
            screen = r.Screen(np.ascontiguousarray(self.host.pixels()))
        self._size = screen.width, screen.height
        return screen

    def perform(self, action: r.Action) -> r.Screen:
        if not isinstance(action, r.ONLY_SAID):
            if not all(self._size):
                self.screen()
            with self._working():
                self.host.execute(json_action(action, self._size))
        return self.screen()

    def elements(self) -> tuple[Element, ...]:
        """Empty: AndroidWorld's server does not report them."""
        with self._working():
            return ()

    def close(self) -> None:
        self._ready = False
        try:
            self._tear_down()
        finally:
            self.host.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def initialise(self, task_type: str, number: int) -> None:
        with self._working():
            self._task = task_type, number  # set first, so that a failed call is torn down too
            self.host.initialise(task_type, number)

    def _tear_down(self) -> None:
        if self._task is not None:
            self.host.tear_down(*self._task)
            self._task = None  # only after success: a task must be torn down before its next begin

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Raise `DeviceNotReady` before a reset, and after a fault until the next reset."""
        if not self._ready:
            raise DeviceNotReady(f"device {self.name}: call reset(seed) before anything else")
        try:
            yield
        except DeviceError:
            self._ready = False
            raise


class AndroidWorldJudge:
    """Implements `Judge` by AndroidWorld's own scores."""

    def __init__(self, phone: AndroidWorldPhone) -> None:
        self._phone = phone
        self._task: tuple[str, int] | None = None

    def begin(self, task: r.Task) -> None:
        self._task = _parsed(task.id)
        self._phone.initialise(*self._task)

    def verdict(self, answer: str | None) -> r.Verdict:
        if self._task is None:
            raise JudgeError("a verdict was asked for before a task was begun")
        try:
            if answer is not None:
                self._phone.host.execute({"action_type": "answer", "text": answer})
            score = self._phone.host.score(*self._task)
        except DeviceError as error:
            raise JudgeError(f"AndroidWorld gave no score for {self._task}: {error}") from error
        if not math.isfinite(score):
            raise JudgeError(f"AndroidWorld's score for {self._task} is {score!r}")
        return r.Verdict(score > 0.5, "" if score > 0.5 else f"score {score:g}", JUDGE)


def _parsed(task_id: str) -> tuple[str, int]:
    template, _, rest = task_id.partition("/")
    _, _, number = rest.partition("/")
    if not template.startswith(PREFIX) or not (number.isascii() and number.isdecimal()):
        raise UnknownTask(
            f"{task_id!r} is no task of AndroidWorld; they look like "
            f"{PREFIX}ContactsAddContact/test/0"
        )
    return template.removeprefix(PREFIX), int(number)


def json_action(action: r.Action, size: tuple[int, int]) -> dict[str, Any]:
    """Convert to one of AndroidWorld's JSON actions; `size` is the screen's width and height."""
    match action:
        case r.Tap(x, y):
            return {"action_type": "click", **_pixel(x, y, size)}
        case r.LongPress(x, y):
            return {"action_type": "long_press", **_pixel(x, y, size)}
        case r.DoubleTap(x, y):
            return {"action_type": "double_tap", **_pixel(x, y, size)}
        case r.Swipe():
            return {"action_type": "scroll", "direction": scroll_direction(action)}
        case r.TypeText(text):
            return {"action_type": "input_text", "text": text}
        case r.OpenApp(name):
            return {"action_type": "open_app", "app_name": name}
        case r.Back():
            return {"action_type": "navigate_back"}
        case r.Home():
            return {"action_type": "navigate_home"}
        case r.Enter():
            return {"action_type": "keyboard_enter"}
        case r.Wait():
            return {"action_type": "wait"}
        case action if isinstance(action, r.ONLY_SAID):
            raise InvalidAction(f"{action!r} is only said; there is nothing to perform")
        case _:
            raise InvalidAction(f"{action!r}: AndroidWorld's server has no such action")


def scroll_direction(swipe: r.Swipe) -> str:
    """Return the direction in which the view scrolls: down for a finger that moves up."""
    across, down = swipe.to_x - swipe.x, swipe.to_y - swipe.y
    if abs(across) > abs(down):
        return "left" if across > 0 else "right"
    return "up" if down > 0 else "down"


def _pixel(x: float, y: float, size: tuple[int, int]) -> dict[str, int]:
    width, height = size
    return {"x": min(int(x * width), width - 1), "y": min(int(y * height), height - 1)}
