"""Results of several models on the same tasks, as files, and as one table.

A task set is a file that names its tasks; a result is a file with one model's outcome on each of
them. Both are flat JSON with a `format` and a `version`, so that others can write and read them
without this package. A result has digests of what it was measured on: of the tasks (ids,
instructions, seeds of the phones, step limits) and of the first screens of their phones. A table is
only made of results whose digests, seed and version are equal; otherwise `OtherSettings` names the
first difference. Rates are computed from the single outcomes, never read from the file.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from rich.table import Table

from distrl import __version__
from distrl.episodes.outcome import Outcome, SuccessRate, paired_gain
from distrl.errors import CorruptOutcomes, OtherSettings, UsageError
from distrl.output_file import prepare_output_file
from distrl.records import Ending, Task
from distrl.runs.run_directory import write_whole
from phonesim.drift import Drift
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

TASK_SET, RESULT = "distrl-task-set", "distrl-result"
FORMAT_VERSION = 1
SEEN = 8  # phones whose first screen is part of the digest
MAX_BYTES = 64 * 2**20
MOST = 1_000_000_000  # upper limit of every number in a result
SAME = ("tasks_digest", "screens_digest", "seed", "distrl")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TaskSetFile:
    """A task set: ids of tasks in order, and their digest."""

    format: str
    version: int
    name: str
    distrl: str
    tasks: tuple[str, ...]
    tasks_digest: str

    @classmethod
    def of(cls, name: str, tasks: Sequence[Task]) -> TaskSetFile:
        ids = tuple(task.id for task in tasks)
        return cls(TASK_SET, FORMAT_VERSION, name, __version__, ids, tasks_digest(tasks))

    def load(self, path: Path) -> list[Task]:
        """Load the tasks; raise `OtherSettings` if this version generates any differently."""
        tasks = [load_task(task)[0] for task in self.tasks]
        if tasks_digest(tasks) != self.tasks_digest:
            raise OtherSettings(
                f"{path}: its {len(tasks)} tasks were made by distrl {self.distrl}, and this one, "
                f"{__version__}, words or seeds some of them differently; use that version, or "
                "make the set anew"
            )
        return tasks


@dataclass(frozen=True, slots=True)
class ResultFile:
    """One model's outcome on each task of a set; the lists are parallel to `tasks`."""

    format: str
    version: int
    model: str
    date: str
    distrl: str
    seed: int
    greedy: bool
    temperature: float | None
    dialect: str | None
    tasks_digest: str
    screens_digest: str
    tasks: tuple[str, ...]
    endings: tuple[Ending, ...]
    steps: tuple[int, ...]
    unreadable: tuple[int, ...]
    progress: tuple[float | None, ...]

    @property
    def successes(self) -> dict[str, bool]:
        """Success by task id, of the tasks that were judged."""
        pairs = zip(self.tasks, self.endings, strict=True)
        return {task: ending is Ending.SUCCESS for task, ending in pairs if ending.judged}

    @property
    def rate(self) -> SuccessRate:
        return SuccessRate(sum(self.successes.values()), len(self.successes))

    @property
    def how(self) -> str:
        return "greedy" if self.greedy else f"sampled at {self.temperature:g}"

    def progress_mean(self) -> float | None:
        known = [share for share in self.progress if share is not None]
        return statistics.mean(known) if known else None


def result_of(settings: dict[str, Any], outcomes: Sequence[Outcome]) -> ResultFile:
    """Return the result of an evaluation; `settings` are those of `distrl evaluate`."""
    tasks = [outcome.task for outcome in outcomes]
    return ResultFile(
        format=RESULT,
        version=FORMAT_VERSION,
        model=str(settings["model"]),
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        distrl=__version__,
        seed=settings["seed"],
        greedy=settings["greedy"],
        temperature=settings["temperature"],
        dialect=settings["dialect"],
        tasks_digest=tasks_digest(tasks),
        screens_digest=screens_digest(tasks),
        tasks=tuple(task.id for task in tasks),
        endings=tuple(outcome.ending for outcome in outcomes),
        steps=tuple(outcome.steps for outcome in outcomes),
        unreadable=tuple(outcome.unreadable for outcome in outcomes),
        progress=tuple(outcome.progress for outcome in outcomes),
    )


def tasks_digest(tasks: Sequence[Task]) -> str:
    """Digest id, instruction, phone seed and step limit of every task."""
    lines = (f"{t.id}\t{t.instruction}\t{t.seed}\t{t.step_limit}" for t in tasks)
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=16).hexdigest()


def screens_digest(tasks: Sequence[Task]) -> str:
    """Digest the first screens of `SEEN` of the tasks, spread evenly."""
    seen = hashlib.blake2b(digest_size=16)
    device = SimulatedDevice("leaderboard", Drift())
    for task in tasks[:: max(1, len(tasks) // SEEN)][:SEEN]:
        device.reset(task.seed)
        FactJudge(device).begin(task)
        seen.update(device.screen().pixels.tobytes())
    return seen.hexdigest()


# Files -------------------------------------------------------------------------------------------


def write_task_set(path: Path, tasks: TaskSetFile) -> None:
    _write(path, tasks)


def write_result(path: Path, result: ResultFile) -> None:
    _write(path, result)


def _write(path: Path, record: TaskSetFile | ResultFile) -> None:
    prepare_output_file(path, f"{path.stem or 'result'}.json")
    plain = msgspec.to_builtins(asdict(record))
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in plain.items())
    write_whole(path, "{\n" + ",\n".join(lines) + "\n}\n")


def read_task_set(path: Path) -> TaskSetFile:
    return _read(path, TASK_SET, TaskSetFile)


def read_result(path: Path) -> ResultFile:
    """Read a result; raise `CorruptOutcomes` unless its lists have a valid entry per task."""
    result = _read(path, RESULT, ResultFile)
    lists = (result.endings, result.steps, result.unreadable, result.progress)
    if any(len(each) != len(result.tasks) for each in lists) or not result.tasks:
        raise CorruptOutcomes(
            f"{path}: endings, steps, unreadable and progress have an entry for each of its "
            f"{len(result.tasks)} tasks in a whole file; write it again with distrl evaluate"
        )
    numbers = (*result.steps, *result.unreadable, *(p for p in result.progress if p is not None))
    if not all(0 <= each <= MOST for each in numbers):
        raise CorruptOutcomes(f"{path}: a number in it is below 0 or above {MOST:,}")
    if not result.greedy and result.temperature is None:
        raise CorruptOutcomes(f"{path}: it is neither greedy nor has it a temperature")
    if len(set(result.tasks)) != len(result.tasks):
        raise CorruptOutcomes(f"{path}: a task comes twice; every task counts once")
    return result


def _read(path: Path, wanted: str, kind: type[T]) -> T:
    advice = f"it should be a {wanted} of version {FORMAT_VERSION}, as distrl evaluate writes it"
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CorruptOutcomes(f"{path} has more than {MAX_BYTES >> 20} MB; {advice}")
        tree = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); {advice}") from error
    except (ValueError, RecursionError) as error:
        raise CorruptOutcomes(f"{path} is no JSON ({error}); {advice}") from error
    if not isinstance(tree, dict) or tree.get("format") != wanted:
        raise CorruptOutcomes(f"{path} has no format {wanted!r}; {advice}")
    if tree.get("version") != FORMAT_VERSION:
        raise OtherSettings(f"{path} has version {tree.get('version')!r:.40}; {advice}")
    try:
        return msgspec.convert(tree, kind)
    except (msgspec.ValidationError, ValueError, OverflowError) as error:
        raise CorruptOutcomes(f"{path}: {error}; {advice}") from error


# The table ---------------------------------------------------------------------------------------


def ranked(results: dict[Path, ResultFile]) -> list[ResultFile]:
    """Sort, best first; raise `OtherSettings` unless all were measured on the same (`SAME`)."""
    (first_path, first), *others = results.items()
    for path, result in others:
        for name in SAME:
            had, has = getattr(first, name), getattr(result, name)
            if had != has:
                raise OtherSettings(
                    f"{path} and {first_path} cannot stand in one table: {name} is {has!r} in the "
                    f"one and {had!r} in the other; evaluate both on one --task-set with one seed "
                    "and one version of distrl"
                )
    return sorted(results.values(), key=lambda each: (-each.rate.successes, each.model, each.how))


COLUMNS = ("#", "model", "success", "95 % interval", "to the first", "progress", "steps", "date")


def rows(results: Sequence[ResultFile]) -> list[tuple[str, ...]]:
    """The lines of the table: rates with intervals, and differences paired by task."""
    best = results[0]
    return [_row(place, result, best) for place, result in enumerate(results, 1)]


def _row(place: int, result: ResultFile, best: ResultFile) -> tuple[str, ...]:
    low, high = result.rate.interval
    mean = result.progress_mean()
    return (
        str(place),
        f"{result.model} ({result.how})",
        f"{result.rate.rate:.1%}" if result.rate.episodes else "–",
        f"{low:.1%} – {high:.1%}",
        _difference(result, best),
        "–" if mean is None else f"{mean:.1%}",
        f"{statistics.mean(result.steps):.1f}",
        result.date,
    )


def _difference(result: ResultFile, best: ResultFile) -> str:
    if result is best:
        return ""
    gain = paired_gain(best.successes, result.successes)
    low, high = gain.interval
    return f"{100 * gain.difference:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def shown(results: Sequence[ResultFile]) -> Table:
    """The table for a terminal."""
    table = Table(title=_title(results[0]), title_justify="left")
    for name in COLUMNS:
        table.add_column(name, justify="left" if name == "model" else "right")
    for row in rows(results):
        table.add_row(*row)
    return table


def markdown(results: Sequence[ResultFile]) -> str:
    """The table for a page."""
    lines = [COLUMNS, tuple("---" for _ in COLUMNS), *rows(results)]
    table = "\n".join("| " + " | ".join(_escaped(cell) for cell in row) + " |" for row in lines)
    return f"{_title(results[0])}\n\n{table}\n"


def _escaped(cell: str) -> str:
    return cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def _title(result: ResultFile) -> str:
    return (
        f"{len(result.tasks)} tasks, seed {result.seed}, distrl {result.distrl}, "
        f"tasks {result.tasks_digest[:8]}, screens {result.screens_digest[:8]}"
    )
