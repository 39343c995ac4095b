"""`distrl runs`, `distrl compare` and `distrl report`: list and compare runs, rewrite a report.

`distrl runs` never truncates or wraps a name, whatever the width: names are copied after
`--resume`. Into a pipe it writes one line per run, with tab-separated fields.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from distrl.errors import UsageError

if TYPE_CHECKING:
    from distrl.reporting.run_story import RunStory


def runs(
    path: Annotated[Path, typer.Argument(help="A folder of runs.")] = Path("runs"),
) -> None:
    """List the runs of a folder with their state and results, the newest first."""
    from distrl.reporting.live_view import duration
    from distrl.reporting.run_story import read_story
    from distrl.view.run_catalogue import RunCatalogue
    from distrl.view.run_summary import run_summary

    summaries = (run_summary(read_story(run)) for run in RunCatalogue.at(path).runs().values())
    rows = [
        (
            found["name"], found["state"], _rate(found["before"]), _rate(found["after"]),
            found["gain"], str(found["trajectories"]), str(found["updates"]),
            duration(found["seconds"]),
        )
        for found in summaries
    ]  # fmt: skip
    if not sys.stdout.isatty():  # whole lines for other programs
        for row in rows:
            typer.echo("\t".join(row))
        return
    for name, state, before, after, gain, episodes, updates, time in rows:
        typer.echo(f"{name}  {state}, {time}, {episodes} episodes, {updates} updates")
        if before != after or gain:
            typer.echo(f"    {before} → {after}{': ' if gain else ''}{gain}")


def _rate(rate: dict[str, float | None] | None) -> str:
    if rate is None or rate["rate"] is None:
        return "–"
    return f"{rate['rate']:.0%} [{rate['low']:.0%}, {rate['high']:.0%}]"


def compare(
    paths: Annotated[list[Path], typer.Argument(metavar="RUN RUN…", help="Runs to compare.")],
) -> None:
    """Compare runs with the first one: task by task on what both played, and by their settings."""
    from distrl.reporting.run_story import read_story
    from distrl.runs.run_directory import RunDirectory
    from distrl.view.run_catalogue import RunCatalogue
    from distrl.view.run_summary import differing_settings, settings_of

    if len(paths) < 2:
        raise UsageError(
            "distrl compare wants two runs or more: the first is what others are held against"
        )
    directories = [RunDirectory(RunCatalogue.at(path).path) for path in paths]
    console = Console()
    console.print(_gains([read_story(each) for each in directories]), highlight=False, markup=False)
    known = differing_settings({each.path.name: settings_of(each) for each in directories})
    table = Table("setting that differs", *(each.path.name for each in directories))
    for name, values in known.items():
        table.add_row(name, *(str(values[each.path.name]) for each in directories))
    if known:
        console.print(table, highlight=False, markup=False)
    else:
        console.print("no setting differs but names and folders", highlight=False)


def _gains(stories: list[RunStory]) -> Table:
    from distrl.view.run_summary import run_summary, versus

    table = Table(
        "run", "before", "after", "episodes", "updates", f"against {stories[0].run.path.name}"
    )
    for number, story in enumerate(stories):
        found = run_summary(story)
        words = versus(stories[0], story)["words"] if number else ""
        table.add_row(
            found["name"], _rate(found["before"]), _rate(found["after"]),
            str(found["trajectories"]), str(found["updates"]), words,
        )  # fmt: skip
    return table


def report(run: Annotated[Path, typer.Argument(help="The directory of a run.")]) -> None:
    """Rewrite a run's report.html, also of a run that was stopped or still trains."""
    from distrl.reporting.report import write_report
    from distrl.runs.run_directory import RunDirectory

    typer.echo(write_report(RunDirectory.existing(run)))
