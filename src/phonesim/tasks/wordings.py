"""Sentences for tasks of the split `test` that no demonstration has, from `wordings.toml`.

A task of `paraphrased` or `other_words` has the parameters, the phone and the judge of the task of
`test` with its number; only the instruction differs. What success is lost is lost by its words.
They are in English: a phone that speaks another language says the task as always.
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
    """One sentence for each template of each split, with the fields of the template in braces."""
    text = files("phonesim.tasks").joinpath("wordings.toml").read_text("utf-8")
    read = tomllib.loads(text)
    return {split: read[split] for split in REWORDED}
