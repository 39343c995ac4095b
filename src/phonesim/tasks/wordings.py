"""Phrasings that no demonstration has, for tasks of the split `test`, from `wordings.toml`.

A task of `paraphrased` or `other_words` has the parameters, the phone and the judge of the `test`
task with the same number; only the instruction differs, so any loss of success is due to it.
The phrasings are English: a phone in another language uses its usual instructions.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from distrl.records import SAME_TASKS, Split

REWORDED: tuple[Split, ...] = tuple(SAME_TASKS)


@cache
def wordings() -> Mapping[Split, Mapping[str, str]]:
    """Return one phrasing for each template of each split, with placeholders for its fields."""
    text = files("phonesim.tasks").joinpath("wordings.toml").read_text("utf-8")
    read = tomllib.loads(text)
    return {split: read[split] for split in REWORDED}
