"""An append-only log of the outcomes of an evaluation, so that an interrupted one can be resumed.

A JSON-lines file (`distrl.json_lines`). The first line has the settings of the evaluation; a log
with other settings is refused. An outcome counts once its line is complete: an unfinished last line
of a killed process is truncated, and that task is played again. Any other unreadable line is an
error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from distrl.episodes.outcome import Outcome
from distrl.errors import CorruptOutcomes, OtherSettings, UnknownTask
from distrl.json_lines import LineLog, decode_line, encode_line, whole_lines
from distrl.records import Ending
from phonesim.tasks.task_sets import load_task

ADVICE = "choose another file, or leave out --resume to begin anew"
Settings = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Line:
    """An `Outcome` with its task referred to by id."""

    task: str
    ending: Ending
    steps: int
    unreadable: int
    weight_version: int
    reason: str
    progress: float | None = None

    def outcome(self) -> Outcome:
        return Outcome(
            task=load_task(self.task)[0],
            ending=self.ending,
            steps=self.steps,
            reason=self.reason,
            unreadable=self.unreadable,
            weight_version=self.weight_version,
            progress=self.progress,
        )


class OutcomeLog:
    """A log open for writing, as a context manager. Begin with `new` or `resumed`.

    Without a `LineLog` the outcomes are only kept in memory.
    """

    def __init__(self, log: LineLog | None, outcomes: list[Outcome]) -> None:
        self._log = log
        self.outcomes = outcomes

    @classmethod
    def new(cls, path: Path, settings: Settings) -> Self:
        """Create an empty log; replace an existing file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        log = LineLog.open(path)
        log.append({"settings": settings})
        return cls(log, [])

    @classmethod
    def resumed(cls, path: Path, settings: Settings) -> Self:
        """Open the log of the same evaluation with its outcomes; create one if there is none."""
        lines = whole_lines(path)
        if not lines:
            return cls.new(path, settings)
        head, *rest = lines
        try:
            had = decode_line(head, dict[str, dict[str, Any]])["settings"]
        except (KeyError, ValueError) as error:
            raise CorruptOutcomes(f"{path} is no log of outcomes: {error}; {ADVICE}") from error
        _require_same(path, had, settings)
        outcomes = [_read_outcome(path, number, line) for number, line in enumerate(rest, 2)]
        return cls(LineLog.open(path), outcomes)

    def append(self, outcome: Outcome) -> None:
        """Add an outcome; it is in the file when this returns."""
        self.outcomes.append(outcome)
        if self._log is None:
            return
        self._log.append(
            _Line(
                outcome.task.id,
                outcome.ending,
                outcome.steps,
                outcome.unreadable,
                outcome.weight_version,
                outcome.reason,
                outcome.progress,
            )
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._log is not None:
            self._log.close()


def _read_outcome(path: Path, number: int, line: bytes) -> Outcome:
    try:
        return decode_line(line, _Line).outcome()
    except (ValueError, UnknownTask) as error:
        raise CorruptOutcomes(f"{path}, line {number} is no outcome: {error}; {ADVICE}") from error


def _require_same(path: Path, had: dict[str, Any], settings: Settings) -> None:
    now = decode_line(encode_line(settings), dict[str, Any])  # as JSON returns it, to compare
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
