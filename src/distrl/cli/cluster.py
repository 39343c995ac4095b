"""The commands `distrl cluster …`: a Ray head on this machine, or a node that joins one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

cluster_app = typer.Typer(
    no_args_is_help=True, help="Ray clusters: run the head here, or join one with this machine."
)

Listen = Annotated[
    str | None, typer.Option(help="The address of this machine that others reach it by.")
]
Resources = Annotated[
    list[str] | None,
    typer.Option("--resource", help="What the node offers: phone=8, GPU=1; may be repeated."),
]
RayOptions = Annotated[
    list[str] | None, typer.Argument(help="After --: further options for `ray start`.")
]


@cluster_app.command("start")
def cluster_start(
    listen: Listen = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Of the head.")] = 6379,
    resource: Resources = None,
    store: Annotated[
        Path | None,
        typer.Option(help="Where the head keeps what it knows, beyond this command's end."),
    ] = None,
    options: RayOptions = None,
) -> None:
    """Run a cluster's head here until Ctrl-C; the token comes from RAY_AUTH_TOKEN."""
    from distrl.cli.cluster_command import start

    start(Console(), listen, port, resource or [], store, options or [])


@cluster_app.command("join")
def cluster_join(
    address: Annotated[str, typer.Argument(help="The head's HOST:PORT.")],
    listen: Listen = None,
    resource: Resources = None,
    wait: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for a head that is not up yet.")
    ] = 0.0,
    options: RayOptions = None,
) -> None:
    """Join a cluster with this machine until Ctrl-C, and again whenever the link was cut."""
    from distrl.cli.cluster_command import join

    join(Console(), address, listen, resource or [], wait, options or [])
