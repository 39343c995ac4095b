"""Outcomes on disk as they come, one JSON line each, so that an interrupted evaluation can go on.

The first line has the settings of the evaluation; a log of other settings is refused rather than
mixed in. An outcome counts once its line is complete: what a killed process left half-written is
cut off, and that task is played again. Anything else that cannot be read is an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from distrl.episodes.outcome import Outcome
from distrl.errors import CorruptOutcomes, OtherSettings, UnknownTask
from distrl.records import Ending
from phonesim.tasks.task_sets import load_task

Settings = Mapping[str, object]


class OutcomeLog:
    """A log open for writing, as a context manager. Begin with `new` or `resumed`."""

    def __init__(self, file: TextIO, outcomes: list[Outcome]) -> None:
        self._file = file
        self.outcomes = outcomes

    @classmethod
    def new(cls, path: Path, settings: Settings) -> Self:
        """An empty log; one that was there before is replaced."""
        path.parent.mkdir(parents=True, exist_ok=True)
        log = cls(path.open("w", encoding="ascii"), [])
        log._write({"settings": settings})
        return log

    @classmethod
    def resumed(cls, path: Path, settings: Settings) -> Self:
        """The log of the same evaluation, with what it has so far; a new one if there is none."""
        whole = _whole_lines(path)
        if not whole:
            return cls.new(path, settings)
        head, *rest = whole
        _require_same(path, _read_json(path, 1, head).get("settings"), settings)
        outcomes = [_read_outcome(path, number, line) for number, line in enumerate(rest, 2)]
        return cls(path.open("a", encoding="ascii"), outcomes)

    def append(self, outcome: Outcome) -> None:
        """Keep an outcome; it is in the file when this returns."""
        self.outcomes.append(outcome)
        self._write(
            {
                "task": outcome.task.id,
                "ending": outcome.ending.value,
                "steps": outcome.steps,
                "unreadable": outcome.unreadable,
                "weight_version": outcome.weight_version,
                "reason": outcome.reason,
            }
        )

    def _write(self, record: Settings) -> None:
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


def _whole_lines(path: Path) -> list[str]:
    """The complete lines of the file; what follows them is cut off in the file, too."""
    if not path.exists():
        return []
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    if end < len(content):
        os.truncate(path, end)
    return content[:end].decode("ascii", errors="replace").split("\n")[:-1]


def _read_json(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise CorruptOutcomes(f"{path}, line {number}: not JSON ({error}); {_ADVICE}") from error
    if not isinstance(record, dict):
        raise CorruptOutcomes(f"{path}, line {number}: {line[:80]!r} is no record; {_ADVICE}")
    return record


def _read_outcome(path: Path, number: int, line: str) -> Outcome:
    record = _read_json(path, number, line)
    try:
        return Outcome(
            task=load_task(str(record["task"]))[0],
            ending=Ending(record["ending"]),
            steps=int(record["steps"]),
            reason=str(record["reason"]),
            unreadable=int(record["unreadable"]),
            weight_version=int(record["weight_version"]),
        )
    except (KeyError, ValueError, TypeError, UnknownTask) as error:
        what = f"{type(error).__name__}: {error}"
        raise CorruptOutcomes(f"{path}, line {number}: no outcome ({what}); {_ADVICE}") from error


def _require_same(path: Path, found: object, wanted: Settings) -> None:
    had = found if isinstance(found, dict) else {}
    now = json.loads(json.dumps(wanted))  # as it reads once written: tuples are lists
    different = [
        f"{name} was {had.get(name)!r}, now {now.get(name)!r}"
        for name in sorted({*had, *now})
        if had.get(name) != now.get(name)
    ]
    if different:
        raise OtherSettings(
            f"{path} is of another evaluation: {'; '.join(different)}. "
            "Use those settings, choose another file, or leave out --resume to begin anew"
        )


_ADVICE = "choose another file, or leave out --resume to begin anew"
