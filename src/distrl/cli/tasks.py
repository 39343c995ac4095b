"""`distrl tasks`: list the task templates of the simulated phone."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from distrl.errors import UsageError


def tasks(
    family: Annotated[
        str | None, typer.Option(help="List only this family: general or shopping.")
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="List only templates of this split: train, test, held_out_…")
    ] = None,
) -> None:
    """List the task templates, each with an example."""
    Console().print(task_table(family, split))


def task_table(family: str | None, split: str | None) -> Table:
    """Every template of a family and a split (None: all), with one example each.

    Names are never cut or wrapped, whatever the width of the output: they are typed into settings.
    """
    from distrl.records import FAMILIES, SPLITS
    from phonesim.tasks.task_sets import load_task, splits_of, templates

    if family is not None and family not in FAMILIES:
        raise UsageError(f"no family called {family!r}; there are {', '.join(FAMILIES)}")
    if split is not None and split not in SPLITS:
        raise UsageError(f"no split called {split!r}; there are {', '.join(SPLITS)}")
    shown = {
        name: template
        for name, template in templates().items()
        if family in (None, template.family) and (split is None or split in splits_of(template))
    }
    table = Table(title=f"{len(shown)} task templates", title_justify="left")
    table.add_column("template", no_wrap=True, min_width=max(map(len, shown), default=0))
    for column in ("difficulty", "splits", "for example"):
        table.add_column(column, overflow="fold")
    for name, template in shown.items():
        first = next(s for s in splits_of(template) if split in (None, s))
        example = load_task(f"{name}/{first}/0")[0].instruction
        table.add_row(name, template.difficulty, ", ".join(splits_of(template)), example)
    return table
