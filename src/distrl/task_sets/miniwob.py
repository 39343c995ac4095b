"""Adapter for MiniWoB++: its pages, seeds and rewards as tasks and a judge.

Of the package `miniwob` (pip install 'distrl[miniwob]') only its folder of pages is used, which is
served on loopback (`page_server`); its own environments, which need selenium, are not imported. A
page is a template, `miniwob.click-test/train/17` a task. Seeds of training and testing are
disjoint: test tasks have the odd ones. Some pages also reserve words for testing, so they get the
split.

Only the page knows the instruction, once its episode has begun: `MiniwobJudge.begin` returns the
task with it. Pages limit an attempt in seconds, but a learner that shares a core may need seconds
for one decision; so each of their seconds is one step here. A success is a raw reward of 1, without
the page's time discount. The first end counts: later actions do not change the verdict.

Touch cannot do what needs a mouse: hover, or select text by dragging (`MOUSE_PAGES`).
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
PAGE_WIDTH = 160  # CSS pixels of every page; its height is 210
MOUSE_PAGES = ("highlight-text", "highlight-text-2", "hot-cold")
NOT_REGISTERED = (  # pages in the package that do not belong to its 125 tasks
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
    """The pages of the installed package: their folder, and the step limit of each."""

    folder: Path  # the root to serve; the pages are in its folder miniwob
    step_limits: dict[str, int]

    def named(self, patterns: tuple[str, ...]) -> tuple[str, ...]:
        """Return templates that match one of the patterns; without patterns all but MOUSE_PAGES."""
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
            instruction=f"What the page {page} says.",  # a placeholder until `MiniwobJudge.begin`
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
    """Find the pages of the package without importing it."""
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
    """Return one step for each second of the page's time limit, within 10 to 30."""
    found = SECONDS.search(page.read_text("utf-8", "replace"))
    seconds = int(found[1]) // 1000 if found else FEWEST_STEPS
    return max(FEWEST_STEPS, min(MAX_STEPS, seconds))


def viewport(settings: BrowserSettings) -> Viewport:
    """Return a viewport with the width of the pages, which are not made for phones."""
    return Viewport(settings.width, settings.height, settings.width / PAGE_WIDTH, mobile=False)


def load_task(task_id: str) -> Task:
    """Return the task of an id such as miniwob.click-test/train/17."""
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
        """Load the page and begin its episode; return the task with the page's instruction."""
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
        """Return [done, reward, reason]; None if the page was left or a dialog is open."""
        if not self._began:
            raise JudgeError("a verdict was asked for before a task was begun")
        try:
            return None if self._device.dialog else self._device.evaluate(RESULT)
        except DeviceError as error:
            raise JudgeError(f"the page gave no reward: {error}") from error
