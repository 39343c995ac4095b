"""`distrl leaderboard`: compare results of several models on the same tasks in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def leaderboard(
    results: Annotated[
        list[Path], typer.Argument(help="Files that `distrl evaluate --result FILE` has written.")
    ],
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table for a page of text.")
    ] = False,
) -> None:
    """Compare models on the same tasks; results of other tasks, seeds or versions are refused."""
    from distrl.reporting import leaderboard as table

    found = table.ranked({path: table.read_result(path) for path in results})
    if markdown:
        typer.echo(table.markdown(found), nl=False)
    else:
        Console().print(table.shown(found))
