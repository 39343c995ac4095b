"""Adapter for MobileGym: its phone, its tasks and its judge as tasks and a judge.

MobileGym is used from a checkout that the user has built (`tasks.mobilegym_folder`); DistRL
contains none of it. Its page is served on loopback (`page_server`). Its tasks and judges are Python
code in the same folder, which runs in our process (`mobilegym_bench`): name only a folder that you
trust.

A MobileGym task is a template, `mobilegym.wechat.SetSignature/train/17` a task: the number seeds
its parameters. MobileGym defines which templates are for training and which for testing. The
instruction is known when the task has been set up: `begin` returns the task with it. A success is
what MobileGym calls passed: all goals reached, and nothing else changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from distrl.devices.browser.mobilegym_device import MobileGymDevice
from distrl.errors import DeviceError, InvalidSetting, JudgeError, UnknownTask
from distrl.records import Difficulty, Split, Task, Verdict
from distrl.task_sets.mobilegym_bench import MobileGymBench, MobileGymEpisode, load_bench
from distrl.task_sets.page_server import PageServer

PREFIX = "mobilegym."
JUDGE = "mobilegym"
TASK_ID = re.compile(r"mobilegym\.(\w+\.\w+)/(train|test)/(\d+)")
DIFFICULTIES: Mapping[str, Difficulty] = {"L1": "easy", "L2": "medium", "L3": "hard", "L4": "hard"}
MAX_NAMED = 8  # goals that are missing, and unexpected changes, in a verdict


@dataclass(frozen=True, slots=True)
class MobileGymFolder:
    """A built checkout of MobileGym; `find_mobilegym` checks that it is one."""

    path: Path

    def server(self) -> PageServer:
        """Return a server of its page, and of the pictures of its apps if they were downloaded."""
        return PageServer(self.path / "dist", {"/cdn/": self.path / "mobilegym-data"})

    def templates(self, split: Split, patterns: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return the templates of a split that match one of the patterns; without patterns all."""
        lines = self._split(split).read_text("utf-8").splitlines()
        names = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        every = [f"{PREFIX}{name}" for name in names]
        found = [each for each in every if not patterns or _any_fits(each, patterns)]
        if not found:
            raise InvalidSetting(
                f"tasks.templates={list(patterns)}; none of MobileGym's {len(every)} tasks for "
                f"{split} is called so: they are called mobilegym.SUITE.NAME"
            )
        return tuple(found)

    def load(self, task_id: str) -> Task:
        """Return the task of an id such as mobilegym.wechat.SetSignature/train/17."""
        parts = TASK_ID.fullmatch(task_id)
        if parts is None:
            raise UnknownTask(
                f"{task_id!r} is no task of MobileGym; one is mobilegym.wechat.SetSignature/train/0"
            )
        name, number = parts[1], int(parts[3])
        kind = self.bench.task_type(name)
        return Task(
            id=task_id,
            instruction=f"What MobileGym asks for in {name}.",  # a placeholder until `begin`
            family="general",
            template=f"{PREFIX}{name}",
            split="test" if parts[2] == "test" else "train",
            seed=number,
            apps=tuple(kind.apps),
            difficulty=DIFFICULTIES.get(kind.difficulty, "medium"),
            step_limit=self.bench.step_limit(kind),
        )

    @property
    def bench(self) -> MobileGymBench:
        return load_bench(self.path)

    def _split(self, split: str) -> Path:
        return self.path / "bench_env" / "splits" / f"{split}.txt"


@cache
def find_mobilegym(folder: str) -> MobileGymFolder:
    """Return the checkout in a folder; raise `InvalidSetting` if a file is missing in it."""
    found = MobileGymFolder(Path(folder).expanduser().resolve())
    needed = (found.path / "dist" / "index.html", found._split("train"), found._split("test"))
    for each in needed:
        if not each.is_file():
            raise InvalidSetting(
                f"tasks.mobilegym_folder={folder!r}: there is no {each}; name a checkout of "
                "MobileGym that was built as its own instructions say"
            )
    return found


def _any_fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


class MobileGymJudge:
    """Implements `Judge` by MobileGym's own judge."""

    def __init__(self, device: MobileGymDevice, folder: MobileGymFolder) -> None:
        self._device = device
        self._folder = folder
        self._episode: MobileGymEpisode | None = None

    def begin(self, task: Task) -> Task:
        """Set the task up on the phone; return it with MobileGym's instruction."""
        name = self._folder.load(task.id).template.removeprefix(PREFIX)
        self._episode = None
        episode = self._folder.bench.begin(self._device, name, task.seed)
        self._episode = episode
        return replace(task, instruction=episode.instruction)

    def verdict(self, answer: str | None) -> Verdict:
        if self._episode is None:
            raise JudgeError("a verdict was asked for before a task was begun")
        try:
            result = self._episode.result(answer)
        except DeviceError as error:
            raise JudgeError(f"MobileGym's phone gave no state: {error}") from error
        if result.judge_error:
            raise JudgeError(f"MobileGym's judge failed: {result.judge_error}")
        missing = tuple(map(_issue, (each for each in result.issues if not each.get("passed"))))
        changed = tuple(str(each.get("field")) for each in result.warnings)
        passed = bool(result.passed)
        reasons = (*missing, *(f"{each} has changed" for each in changed))
        return Verdict(
            passed,
            "" if passed else "; ".join(reasons[:MAX_NAMED]) or "not passed",
            JUDGE,
            progress=float(result.progress),
            missing=missing[:MAX_NAMED],
            collateral=changed[:MAX_NAMED],
        )


def _issue(found: Mapping[str, Any]) -> str:
    """Describe a goal that was not reached."""
    if reason := found.get("reason"):
        return str(reason)[:200]
    return f"{found.get('field')} is {found.get('actual')!r}, not {found.get('expected')!r}"[:200]
