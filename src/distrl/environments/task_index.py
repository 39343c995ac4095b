"""The tasks of a split by number, for trainers that choose tasks by an index.

Index 0 is the first task of the first template, 1 that of the second; after the last template
comes the second task of the first. So any range of indices is spread over all templates, and an
index means the same task in every process.
"""

from __future__ import annotations

from typing import get_args

from distrl.errors import UnknownTask
from distrl.records import Split
from phonesim.tasks.task_sets import template_names

SPLITS: tuple[Split, ...] = get_args(Split)
TASKS_OF_EACH = 1_000_000


def task_count(split: str) -> int:
    """How many tasks the split has."""
    return TASKS_OF_EACH * len(template_names(_split(split)))


def task_at(split: str, index: int) -> str:
    """The id of a task, such as notes.create/train/3."""
    names = template_names(_split(split))
    if not 0 <= index < TASKS_OF_EACH * len(names):
        raise IndexError(f"task {index} of {split!r}; give 0 to {TASKS_OF_EACH * len(names) - 1}")
    number, at = divmod(index, len(names))
    return f"{names[at]}/{split}/{number}"


def _split(split: str) -> Split:
    for known in SPLITS:
        if split == known:
            return known
    raise UnknownTask(f"split {split!r}; give {', '.join(SPLITS)}")
