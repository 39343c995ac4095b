"""The list of task templates as a table for the terminal."""

from __future__ import annotations

from rich.table import Table

from distrl.errors import UsageError
from distrl.records import FAMILIES, SPLITS
from phonesim.tasks.task_sets import load_task, splits_of, templates


def task_table(family: str | None, split: str | None) -> Table:
    """Every template of a family and a split (None: all), with one example each."""
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
    for column in ("template", "difficulty", "splits", "for example"):
        table.add_column(column)
    for name, template in shown.items():
        first = next(s for s in splits_of(template) if split in (None, s))
        example = load_task(f"{name}/{first}/0")[0].instruction
        table.add_row(name, template.difficulty, ", ".join(splits_of(template)), example)
    return table
