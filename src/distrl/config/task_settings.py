"""Settings of tasks: where they come from, which of them are used, and how they are drawn."""

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
# A source that needs a file or folder of the user, the setting with its path, its page in docs/.
NAMED_PLACES = (("web", "web_file", "browser"), ("mobilegym", "mobilegym_folder", "mobilegym"))
LONGEST_PATTERN = 200  # characters of a pattern for template names


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """The tasks of a run; `templates` selects some of them.

    simulated: tasks of our simulated phone, unlimited, judged by facts. aitw: instructions of
    Android in the Wild, from your text files. android_world: AndroidWorld's tasks, on the phones of
    its containers. miniwob: MiniWoB++'s pages, unlimited. mobilegym: MobileGym's tasks on its
    phone, unlimited, from your folder. web: your own pages, listed in a file. registered: every
    `Task` that was passed to `register_task`.
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
    ] = 0.0  # against forgetting of what the model was trained on before
    web_file: Annotated[str, Meaning("a TOML file of tasks on web pages: docs/browser.md")] = ""
    mobilegym_folder: Annotated[str, Meaning("a built MobileGym: docs/mobilegym.md")] = ""
    aitw: AitwSettings = field(default_factory=AitwSettings)
    android_world: AndroidWorldSettings = field(default_factory=AndroidWorldSettings)

    @property
    def played_splits(self) -> tuple[Split, ...]:
        """The splits whose tasks training plays."""
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
        """The names of the simulated templates that these settings select."""
        if not self.templates:
            return tuple(self._names())
        found = (name for pattern in self.templates for name in self._matches(pattern))
        return tuple(dict.fromkeys(found))

    def wants(self, template: str) -> bool:
        """Return whether `templates` selects this template, for sources that list their tasks."""
        return not self.templates or any(fnmatchcase(template, each) for each in self.templates)

    def _matches(self, pattern: str) -> list[str]:
        if len(pattern) > LONGEST_PATTERN:  # fnmatch's time grows with the square of its length
            return []
        return [name for name in self._names() if fnmatchcase(name, pattern)]

    def _names(self) -> list[str]:
        return [name for family in self.families for name in template_names(self.split, family)]
