"""`distrl reproduce RUN`: run it again with the same settings, and compare the results.

It first prints what has changed since (commit, packages, machine, files). A run in one process that
ended by updates or trajectories, not by time, repeats bit for bit, so its metrics must be equal.
Any other run is compared by its evaluation after training, task by task. A run that allows neither
is refused before anything runs.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from distrl.errors import CorruptLog, UsageError

if TYPE_CHECKING:
    from distrl.runs.run_directory import RunDirectory

# Metrics that no run repeats: timings, and `watch/`, which is measured as often as time allows.
TIMED = ("seconds", "per_second", "flops", "memory", "time", "watch/")


def reproduce(
    run: Annotated[Path, typer.Argument(help="Directory of a finished run.")],
    against: Annotated[
        Path | None, typer.Option(help="Compare with this run instead of running it again.")
    ] = None,
) -> None:
    """Run a run again and compare: settings, code, packages, machine, figures, success."""
    from distrl.config.training_config import load_run_config
    from distrl.engine.run.run_card import RunCard
    from distrl.runs.run_directory import RunDirectory

    first = RunDirectory.existing(run)
    config = load_run_config(first.config)
    second = None if against is None else RunDirectory.existing(against)
    for finished in (first, *([second] if second else [])):
        check_comparable(finished)
    now = RunCard.of(config, first) if second is None else RunCard.read(second)
    differences = RunCard.read(first).differences(now)
    for each in differences or ["the code, the packages, the machine and the files are the same"]:
        typer.echo(each)
    same, words = compare(first, second or _run_again(first))
    typer.echo(words)
    raise typer.Exit(0 if same else 1)


def _run_again(run: RunDirectory) -> RunDirectory:
    """Train again with the settings of the first run; exit if the second one was stopped."""
    from distrl.cli.train import new_directory, train_in
    from distrl.config.training_config import load_run_config

    config = load_run_config(run.config)
    fresh = new_directory(config)
    typer.echo(fresh.path)
    if stopped := train_in(Console(), config, fresh, None, accept_losses=False):
        later = ["distrl", "reproduce", str(run.path), "--against", str(fresh.path)]
        typer.echo(f"nothing was compared; once that run has ended: {shlex.join(later)}")
        raise typer.Exit(stopped)
    return fresh


def check_comparable(run: RunDirectory) -> None:
    """Raise `UsageError` if a run has no results that another could be compared with."""
    if not run.result.exists():
        raise UsageError(
            f"{run.path} has no result.json, so there is nothing to compare: the run has not ended "
            f"(distrl train --resume {shlex.quote(str(run.path))}), was a dry run, or was "
            "collected without learning; name a run that was trained to its end"
        )
    if not repeats(run) and not _successes(run):
        raise UsageError(
            f"{run.path} has nothing to compare: it was not measured after training "
            "(evaluation.after), and only with collection.mode=one_process, ended by run.updates "
            "or run.trajectories, would its figures repeat; name a run that has one of these"
        )


def repeats(run: RunDirectory) -> bool:
    """Return whether a finished run is deterministic: in one process, and not ended by time."""
    from distrl.config.training_config import load_run_config
    from distrl.runs.checked_json import is_as_written

    content = run.result.read_bytes()
    if not is_as_written(content):
        raise CorruptLog(f"{run.result} is not as the run wrote it; name another run")
    config = load_run_config(run.config)
    counted = json.loads(content)
    limits = {"updates": config.run.updates, "trajectories": config.run.trajectories}
    return config.collection.mode == "one_process" and any(
        limit is not None and counted[name] >= limit for name, limit in limits.items()
    )


def compare(first: RunDirectory, second: RunDirectory) -> tuple[bool, str]:
    """Return whether two runs of the same settings agree, and a sentence that says how."""
    if repeats(first) and repeats(second):
        return _compare_figures(first, second)
    return _compare_success(first, second)


def _compare_figures(first: RunDirectory, second: RunDirectory) -> tuple[bool, str]:
    ours, theirs = _figures(first), _figures(second)
    for at, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        if mine != other:
            names = [name for name in mine | other if mine.get(name) != other.get(name)]
            said = f"update {at + 1} differs in {', '.join(names[:4])}"
            return False, f"not the same: {said} ({mine.get(names[0])} and {other.get(names[0])})"
    if len(ours) != len(theirs) or not ours:
        return False, f"not the same: {len(ours)} and {len(theirs)} updates"
    return True, f"the same: every figure of {len(ours)} updates is equal"


def _figures(run: RunDirectory) -> list[dict[str, float | None]]:
    """Return the learner's metrics at each update, without those of `TIMED`."""
    from distrl.runs.metrics import read_points

    return [
        {
            name: value
            for name, value in point.figures.items()
            if not any(word in name for word in TIMED)
        }
        for point in read_points(run.metrics)
        if point.series == "learner"
    ]


def _compare_success(first: RunDirectory, second: RunDirectory) -> tuple[bool, str]:
    from distrl.episodes.outcome import paired_gain

    ours, theirs = _successes(first), _successes(second)
    gain = paired_gain(ours, theirs)
    low, high = gain.interval
    words = (
        f"success after training on the same {gain.tasks} tasks: {_rate(ours)} then, "
        f"{_rate(theirs)} now, a difference of {100 * gain.difference:+.1f} points "
        f"[{100 * low:+.1f}, {100 * high:+.1f}]"
    )
    if not gain.tasks:
        return False, "no task was measured after training in both: there is nothing to compare"
    verdict = "more than by accident" if gain.significant else "which is within what seeds do"
    return not gain.significant, f"{words}, {verdict}"


def _successes(run: RunDirectory) -> dict[str, bool]:
    from distrl.json_lines import read_lines
    from distrl.runs.run_records import EvaluationLine

    lines = [each for each in read_lines(run.evaluations, EvaluationLine) if each.stage == "after"]
    return dict(lines[-1].successes) if lines else {}


def _rate(successes: dict[str, bool]) -> str:
    return f"{100 * sum(successes.values()) / max(1, len(successes)):.1f} %"
