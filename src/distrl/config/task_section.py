"""What is trained on: the section `tasks` of a run's settings.

simulated       the tasks of our simulated phone, without end, each with its facts (the default)
aitw            Android in the Wild's instructions, from text files of yours (`tasks.aitw`)
android_world   AndroidWorld's tasks, on the phones of its containers (`tasks.android_world`)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Literal
from urllib.parse import urlsplit

from distrl.bounds import Bounds, Meaning, check_bounds
from distrl.errors import InvalidSetting
from distrl.records import FAMILIES, Family, Split
from distrl.task_sets.aitw import Subset
from phonesim.tasks.task_sets import template_names

TaskSourceName = Literal["simulated", "aitw", "android_world"]
Curriculum = Literal["uniform", "success_rate", "instruction_value"]


@dataclass(frozen=True, slots=True)
class AitwSettings:
    """Android in the Wild: two text files, one instruction a line; see `tasks.aitw`."""

    subset: Subset = "general"
    train_file: Annotated[str, Meaning("a text file, one instruction a line")] = ""
    test_file: Annotated[str, Meaning("the same; its instructions are taken out of training")] = ""


@dataclass(frozen=True, slots=True)
class AndroidWorldSettings:
    """AndroidWorld: one container for each phone; see `tasks.android_world_container`."""

    urls: Annotated[tuple[str, ...], Meaning("of its containers, one for each phone")] = (
        "http://127.0.0.1:5000",
    )
    suite_seed: Annotated[
        int, Bounds(0, 2**31 - 1, "(seed of all parameters; take another to test)")
    ] = 1
    combinations: Annotated[int, Bounds(1, 10**4, "tasks of each type")] = 1

    def __post_init__(self) -> None:
        check_bounds(self)
        for url in self.urls:
            if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
                raise InvalidSetting(
                    f"urls={list(self.urls)}; give urls like http://127.0.0.1:5000"
                )
        if len(set(self.urls)) < len(self.urls):
            raise InvalidSetting(f"urls={list(self.urls)}; a container is one phone, name it once")


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """`templates` narrows it down: names, or patterns such as notes.* or android_world.Clock*"""

    source: TaskSourceName = "simulated"
    families: Annotated[tuple[Family, ...], Meaning("of simulated tasks")] = ("general",)
    split: Split = "train"
    templates: Annotated[
        tuple[str, ...], Meaning("names or patterns such as notes.*; empty: all")
    ] = ()
    curriculum: Annotated[Curriculum, Meaning("how tasks are drawn")] = "uniform"
    aitw: AitwSettings = field(default_factory=AitwSettings)
    android_world: AndroidWorldSettings = field(default_factory=AndroidWorldSettings)

    def __post_init__(self) -> None:
        if self.source == "simulated":
            self._check_simulated()
        elif self.split not in ("train", "test"):
            raise InvalidSetting(f"split={self.split!r} with source={self.source!r}; train or test")
        if self.source == "aitw":
            self._check_aitw()

    def _check_simulated(self) -> None:
        if not self.families:
            raise InvalidSetting(f"families={list(self.families)}; give {' or '.join(FAMILIES)}")
        for pattern in self.templates:
            if not self._matches(pattern):
                raise InvalidSetting(
                    f"templates={list(self.templates)}; no template of {', '.join(self.families)} "
                    f"in the split {self.split} is called {pattern!r}: `distrl tasks` lists them"
                )

    def _check_aitw(self) -> None:
        if not (self.aitw.train_file and self.aitw.test_file):
            raise InvalidSetting(
                f"aitw.train_file={self.aitw.train_file!r} and aitw.test_file="
                f"{self.aitw.test_file!r} with source='aitw'; name both text files: "
                "docs/judges-and-task-sets.md says where they are"
            )
        if self.templates:
            raise InvalidSetting(
                f"templates={list(self.templates)} with source='aitw'; its instructions have none"
            )

    @property
    def template_names(self) -> tuple[str, ...]:
        """The simulated templates that these settings mean."""
        if not self.templates:
            return tuple(name for family in self.families for name in self._all(family))
        found = (name for pattern in self.templates for name in self._matches(pattern))
        return tuple(dict.fromkeys(found))

    def _matches(self, pattern: str) -> list[str]:
        names = [name for family in self.families for name in self._all(family)]
        return [name for name in names if fnmatchcase(name, pattern)]

    def _all(self, family: Family) -> list[str]:
        return template_names(self.split, family)
