"""`distrl reproduce RUN`: run it again with the same settings, and say whether the same came out.

What has changed since (commit, packages, machine, files) is said first. A run in one process that
ends by updates or trajectories repeats bit by bit, so its figures must be equal; any other
is compared by the success of its evaluation, task by task.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from distrl.runs.run_directory import RunDirectory

TIMED = ("seconds", "per_second", "flops", "memory", "time")  # figures that no run repeats


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
    now = RunCard.of(config, first) if against is None else RunCard.read(RunDirectory(against))
    differences = RunCard.read(first).differences(now)
    for each in differences or ["the code, the packages, the machine and the files are the same"]:
        typer.echo(each)
    second = RunDirectory.existing(against) if against is not None else _run_again(first)
    same, words = compare(first, second)
    typer.echo(words)
    raise typer.Exit(0 if same else 1)


def _run_again(run: RunDirectory) -> RunDirectory:
    from distrl.cli.train import new_directory, train_run
    from distrl.config.training_config import load_run_config

    config = load_run_config(run.config)
    fresh = new_directory(config)
    typer.echo(fresh.path)
    train_run(config, fresh, Console(), resumed=False, accept_losses=False)
    return fresh


def compare(first: RunDirectory, second: RunDirectory) -> tuple[bool, str]:
    """Whether two runs of the same settings came to the same, and a sentence about it."""
    from distrl.config.training_config import load_run_config

    if load_run_config(first.config).collection.mode == "one_process":
        return _compare_figures(first, second)
    return _compare_success(first, second)


def _compare_figures(first: RunDirectory, second: RunDirectory) -> tuple[bool, str]:
    ours, theirs = _figures(first), _figures(second)
    for at, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        if mine != other:
            names = [name for name in mine if mine[name] != other.get(name)]
            said = f"update {at + 1} differs in {', '.join(names[:4])}"
            return False, f"not the same: {said} ({mine[names[0]]} and {other.get(names[0])})"
    if len(ours) != len(theirs) or not ours:
        return False, f"not the same: {len(ours)} and {len(theirs)} updates"
    return True, f"the same: every figure of {len(ours)} updates is equal"


def _figures(run: RunDirectory) -> list[dict[str, float | None]]:
    """What the learner computed at each update, without what it timed."""
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
        return False, "no evaluation after training in both: there is nothing to compare"
    verdict = "more than by accident" if gain.significant else "which is within what seeds do"
    return not gain.significant, f"{words}, {verdict}"


def _successes(run: RunDirectory) -> dict[str, bool]:
    from distrl.json_lines import read_lines
    from distrl.runs.run_records import EvaluationLine

    lines = [each for each in read_lines(run.evaluations, EvaluationLine) if each.stage == "after"]
    return dict(lines[-1].successes) if lines else {}


def _rate(successes: dict[str, bool]) -> str:
    return f"{100 * sum(successes.values()) / max(1, len(successes)):.1f} %"
