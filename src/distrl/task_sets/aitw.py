"""The instructions of Android in the Wild (General, Web Shopping) from the public text files.

DistRL does not ship them: the user names the files, with one instruction per line. The public
training files also contain test instructions (General: all of them). They are removed from training
here, and their number is reported. Two instructions count as equal if they differ only in case,
quotes, spaces or the final full stop.

They are tasks for real phones. Device facts cannot tell whether one was done, so they need a judge
of whole trajectories (`judge.DeferredJudge`, `vlm_judge`); an episode starts where the device's
reset leaves the phone. Ids are `aitw_general/train/17`, numbered by the lines of the file, so that
removing some does not change the ids of others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from distrl.errors import InvalidSetting
from distrl.records import Family, Split, Task

Subset = Literal["general", "web_shopping"]
FAMILIES: dict[Subset, Family] = {"general": "general", "web_shopping": "shopping"}
STEP_LIMITS: dict[Subset, int] = {"general": 10, "web_shopping": 20}  # as in DigiRL and DistRL
MAX_LINE = 2000  # characters of an instruction
_QUOTES = str.maketrans("’‘“”`", "''\"\"'")


@dataclass(frozen=True, slots=True)
class AitwTasks:
    """Disjoint training and test tasks, and counts of the instructions that were removed."""

    train: tuple[Task, ...]
    test: tuple[Task, ...]
    leaked: int  # test instructions found in the training file
    repeated: int  # lines of either file that repeat an earlier one

    def __str__(self) -> str:
        return (
            f"{len(self.train)} training and {len(self.test)} test instructions; {self.leaked} of "
            f"{len(self.test)} test instructions were in the training file as well and were taken "
            f"out of it; {self.repeated} lines that repeat another one were left out"
        )


def load_aitw(subset: Subset, train_file: Path, test_file: Path) -> AitwTasks:
    """Load the tasks of two text files, and remove test instructions from training."""
    train, repeated_train = _instructions(train_file)
    test, repeated_test = _instructions(test_file)
    clean = {key: line for key, line in train.items() if key not in test}
    if not clean:
        raise InvalidSetting(
            f"{train_file}: nothing is left to train on without the {len(test)} instructions of "
            f"{test_file}; is it the same file?"
        )
    return AitwTasks(
        train=tuple(_task(subset, "train", *line) for line in clean.values()),
        test=tuple(_task(subset, "test", *line) for line in test.values()),
        leaked=len(train) - len(clean),
        repeated=repeated_train + repeated_test,
    )


def same_instruction(text: str) -> str:
    """Normalise an instruction; equal results mean the same instruction."""
    plain = re.sub(r"\s+", " ", text.translate(_QUOTES).replace('"', "'")).strip().casefold()
    return plain.rstrip(" .")


def _instructions(path: Path) -> tuple[dict[str, tuple[int, str]], int]:
    """Return line number and text by normalised instruction, and the number of duplicates."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSetting(
            f"{path}: {error}; name a text file with one instruction a line"
        ) from error
    found: dict[str, tuple[int, str]] = {}
    repeated = 0
    for number, line in enumerate(lines):
        text = line.strip()
        if len(text) > MAX_LINE:
            raise InvalidSetting(f"{path}, line {number + 1}: {len(text)} characters; is it text?")
        if text and same_instruction(text) in found:
            repeated += 1
        elif text:
            found[same_instruction(text)] = number, text
    if not found:
        raise InvalidSetting(f"{path} has no instructions; give one a line")
    return found, repeated


def _task(subset: Subset, split: Split, number: int, text: str) -> Task:
    template = f"aitw_{subset}"
    return Task(
        id=f"{template}/{split}/{number}",
        instruction=text,
        family=FAMILIES[subset],
        template=template,
        split=split,
        seed=0,
        apps=(),
        difficulty="medium",
        step_limit=STEP_LIMITS[subset],
    )
