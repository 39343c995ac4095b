"""`distrl configs`: list or print the settings files that ship with DistRL."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from distrl.config.config_file import config_names, config_path, config_words


def configs(
    name: Annotated[
        str | None, typer.Argument(help="Print this one, to save it and change it.")
    ] = None,
) -> None:
    """List the settings that `distrl train NAME` takes by name, or print one of them."""
    if name is not None:
        typer.echo(config_path(name).read_text("utf-8"), nl=False)
        return
    table = Table(box=None, padding=(0, 2, 1, 0))
    names = config_names()
    table.add_column("name", min_width=max(map(len, names)), no_wrap=True)
    table.add_column("what it is for", overflow="fold")
    for each in names:
        table.add_row(each, config_words(each))
    Console().print(table, highlight=False)
    typer.echo("distrl train NAME starts one; distrl configs NAME > mine.toml copies it.")
