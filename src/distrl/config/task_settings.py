"""What is trained on: where tasks come from, which of them, and how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from distrl.bounds import Bounds, Meaning, check_bounds
from distrl.config.task_set_settings import AitwSettings, AndroidWorldSettings
from distrl.errors import InvalidSetting
from distrl.records import FAMILIES, Family, Split
from phonesim.tasks.task_sets import template_names

TaskSourceName = Literal[
    "simulated", "aitw", "android_world", "miniwob", "mobilegym", "web", "registered"
]
Curriculum = Literal["uniform", "success_rate", "instruction_value"]
# A source that needs a file or folder of the user's, the setting, and its page in docs/.
NAMED_PLACES = (("web", "web_file", "browser"), ("mobilegym", "mobilegym_folder", "mobilegym"))
LONGEST_PATTERN = 200  # characters of a pattern for the names of templates


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """What is trained on; `templates` narrows it down.

    simulated: the tasks of our simulated phone, without end, each with its facts. aitw: Android in
    the Wild's instructions, from text files of yours. android_world: AndroidWorld's tasks, on the
    phones of its containers. miniwob: MiniWoB++'s pages, without end. mobilegym: MobileGym's tasks
    on its phone, without end, from a folder of yours. web: pages of yours, from a file. registered:
    every `Task` given to `register_task`.
    """

    source: TaskSourceName = "simulated"
    families: Annotated[tuple[Family, ...], Meaning("of simulated tasks")] = ("general",)
    split: Split = "train"
    templates: Annotated[
        tuple[str, ...], Meaning("names or patterns such as notes.*; empty: all")
    ] = ()
    curriculum: Annotated[Curriculum, Meaning("how tasks are drawn")] = "uniform"
    rehearsal: Annotated[
        float, Bounds(0.0, 0.9, "of the episodes, on simulated tasks of the split train")
    ] = 0.0  # so that what the model was taught is not lost
    web_file: Annotated[str, Meaning("a TOML file of tasks on web pages: docs/browser.md")] = ""
    mobilegym_folder: Annotated[str, Meaning("a built MobileGym: docs/mobilegym.md")] = ""
    aitw: AitwSettings = field(default_factory=AitwSettings)
    android_world: AndroidWorldSettings = field(default_factory=AndroidWorldSettings)

    @property
    def played_splits(self) -> tuple[Split, ...]:
        """Those that training plays tasks of."""
        return (self.split, "train") if self.rehearsal else (self.split,)

    def __post_init__(self) -> None:
        if self.source == "simulated":
            self._check_simulated()
        elif self.split not in ("train", "test"):
            raise InvalidSetting(f"split={self.split!r} with source={self.source!r}; train or test")
        if self.source == "aitw":
            self._check_aitw()
        check_bounds(self)
        if self.rehearsal and (self.source, self.split) != ("simulated", "undemonstrated"):
            raise InvalidSetting(
                f"rehearsal={self.rehearsal!r} with source={self.source!r} and split="
                f"{self.split!r}; it adds tasks that were demonstrated to simulated ones that were "
                "not: give split='undemonstrated', or no rehearsal"
            )
        for source, setting, page in NAMED_PLACES:
            if (self.source == source) != bool(given := getattr(self, setting)):
                raise InvalidSetting(
                    f"{setting}={given!r} with source={self.source!r}; the source {source}, and no "
                    f"other, has it: docs/{page}.md shows one"
                )

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
            return tuple(self._names())
        found = (name for pattern in self.templates for name in self._matches(pattern))
        return tuple(dict.fromkeys(found))

    def wants(self, template: str) -> bool:
        """Whether a task of this template is meant, where tasks are listed."""
        return not self.templates or any(fnmatchcase(template, each) for each in self.templates)

    def _matches(self, pattern: str) -> list[str]:
        if len(pattern) > LONGEST_PATTERN:  # fnmatch takes the square of its length
            return []
        return [name for name in self._names() if fnmatchcase(name, pattern)]

    def _names(self) -> list[str]:
        return [name for family in self.families for name in template_names(self.split, family)]
