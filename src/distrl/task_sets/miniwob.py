"""MiniWoB++: its pages, seeds and rewards as tasks and a judge of ours.

The package `miniwob` (pip install 'distrl[miniwob]') is used for its folder of pages alone, which
is served on loopback (`page_server`); its own environments, which need selenium, are not imported.
A page is a template, `miniwob.click-test/train/17` a task. Seeds of training and testing never
meet: tests have the odd ones. Some pages also keep words for testing apart, and are told the split.

What is to be done is known by the page alone, once it has begun: `MiniwobJudge.begin` returns the
task with that instruction. Pages limit an attempt in seconds, which a learner that shares a core
may need for one decision; here a second of theirs is one step. A success is a raw reward of 1,
without the page's discount for seconds. The first end counts: whatever is done afterwards, the
verdict stays.

A finger cannot do what only a mouse can: hover, or select text by dragging (`MOUSE_PAGES`).
"""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from distrl.devices.browser.browser_device import BrowserDevice
from distrl.devices.browser.browser_settings import BrowserSettings, Viewport
from distrl.errors import DeviceError, InvalidSetting, JudgeError, NotInstalled, UnknownTask
from distrl.records import Split, Task, Verdict

PREFIX = "miniwob."
JUDGE = "miniwob"
PAGE_WIDTH = 160  # CSS pixels: all pages are as wide, and 210 high
MOUSE_PAGES = ("highlight-text", "highlight-text-2", "hot-cold")
NOT_REGISTERED = (  # files of the package that are none of its 125 tasks
    "button-delay", "chase-circle", "hover-shape", "moving-items", "simon-says",
)  # fmt: skip
FEWEST_STEPS, MAX_STEPS = 10, 30
SECONDS = re.compile(r"core\.EPISODE_MAX_TIME\s*=\s*(\d+)")
TASK_ID = re.compile(r"miniwob\.([a-z0-9-]+)/(train|test)/(\d+)")
BEGIN = Path(__file__).with_name("miniwob.js")
RESULT = (
    "typeof WOB_DONE_GLOBAL === 'undefined' ? null : "
    "[WOB_DONE_GLOBAL, WOB_RAW_REWARD_GLOBAL, String(WOB_REWARD_REASON || '')]"
)


@dataclass(frozen=True, slots=True)
class MiniwobPages:
    """The pages of the installed package: their folder, and the steps that each allows."""

    folder: Path  # to be served; the pages are in its folder miniwob
    step_limits: dict[str, int]

    def named(self, patterns: tuple[str, ...]) -> tuple[str, ...]:
        """Templates that match one of the patterns; none given: all that a finger can do."""
        every = [f"{PREFIX}{page}" for page in self.step_limits]
        if not patterns:
            return tuple(each for each in every if each.removeprefix(PREFIX) not in MOUSE_PAGES)
        found = [each for each in every if any(fnmatchcase(each, p) for p in patterns)]
        if not found:
            raise InvalidSetting(
                f"tasks.templates={list(patterns)}; none of MiniWoB's {len(every)} pages is called "
                f"so: they are {every[0]}, {every[1]}, …"
            )
        return tuple(found)

    def task(self, page: str, split: Split, number: int) -> Task:
        if page not in self.step_limits:
            raise UnknownTask(
                f"MiniWoB has no page called {page!r}; it has {len(self.step_limits)}"
            )
        return Task(
            id=f"{PREFIX}{page}/{split}/{number}",
            instruction=f"What the page {page} says.",  # it says so when it has begun
            family="general",
            template=f"{PREFIX}{page}",
            split=split,
            seed=2 * number + (split == "test"),
            apps=(),
            difficulty="medium",
            step_limit=self.step_limits[page],
        )


@cache
def find_pages() -> MiniwobPages:
    """The pages of the package, which is found and not imported."""
    spec = importlib.util.find_spec("miniwob")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    folder = Path(places[0], "html") if places else None
    if folder is None or not (folder / "miniwob").is_dir():
        raise NotInstalled(
            "MiniWoB's pages are in the package miniwob, which is not installed: "
            "pip install --no-deps miniwob==1.1.0 (its own environments, and selenium, are not "
            "needed)"
        )
    found = sorted((folder / "miniwob").glob("*.html"))
    pages = [page for page in found if page.stem not in NOT_REGISTERED]
    return MiniwobPages(folder, {page.stem: _step_limit(page) for page in pages})


def _step_limit(page: Path) -> int:
    """One step for each second that the page gives a person."""
    found = SECONDS.search(page.read_text("utf-8", "replace"))
    seconds = int(found[1]) // 1000 if found else FEWEST_STEPS
    return max(FEWEST_STEPS, min(MAX_STEPS, seconds))


def viewport(settings: BrowserSettings) -> Viewport:
    """As wide as the pages are, which know nothing of phones."""
    return Viewport(settings.width, settings.height, settings.width / PAGE_WIDTH, mobile=False)


def load_task(task_id: str) -> Task:
    """The task of an id such as miniwob.click-test/train/17."""
    found = TASK_ID.fullmatch(task_id)
    if found is None:
        raise UnknownTask(f"{task_id!r} is no task of MiniWoB; one is miniwob.click-test/train/17")
    split: Split = "test" if found[2] == "test" else "train"
    return find_pages().task(found[1], split, int(found[3]))


class MiniwobJudge:
    """Implements `Judge` by the page's own reward."""

    def __init__(self, device: BrowserDevice) -> None:
        self._device = device
        self._began = False

    def begin(self, task: Task) -> Task:
        """Load the page and begin its episode; returns the task as the page words it."""
        page = load_task(task.id).template.removeprefix(PREFIX)
        self._device.open(f"{self._device.site}/miniwob/{page}.html", home=False)
        given = json.dumps({"seed": task.seed, "mode": task.split})
        said = self._device.prepare(f"({BEGIN.read_text('utf-8')})({given})")
        self._began = True
        return replace(task, instruction=str(said))

    def over(self) -> bool:
        found = self._result()
        return isinstance(found, list) and found[0] is True

    def verdict(self, answer: str | None) -> Verdict:
        found = self._result()
        if not isinstance(found, list):
            return Verdict(False, "the page was left, or waits for an answer", JUDGE)
        done, reward, reason = found
        if done is not True:
            return Verdict(False, "the page is not done", JUDGE)
        success = isinstance(reward, int | float) and reward >= 1.0
        return Verdict(success, "" if success else f"reward {reward!r} {reason}".strip(), JUDGE)

    def _result(self) -> Any:
        """[done, reward, reason] of the page; anything else where it was left or waits."""
        if not self._began:
            raise JudgeError("a verdict was asked for before a task was begun")
        try:
            return None if self._device.dialog else self._device.evaluate(RESULT)
        except DeviceError as error:
            raise JudgeError(f"the page gave no reward: {error}") from error
