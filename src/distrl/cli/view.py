"""`distrl view`: show a run, or a folder of runs, as a page in the browser."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import secrets
import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

Port = Annotated[int, typer.Option(min=0, max=65535, help="The port; 0: any that is free.")]


def view(
    path: Annotated[Path, typer.Argument(help="A run, or a folder of runs.")] = Path("runs"),
    port: Port = 7400,
    listen: Annotated[
        str, typer.Option(help="The address to listen on; other than loopback needs --token.")
    ] = "127.0.0.1",
    token: Annotated[
        str, typer.Option(envvar="DISTRL_VIEW_TOKEN", help="A secret that visitors must know.")
    ] = "",
    open_page: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Look at the phones, the episodes and the curves of runs, also while they train."""
    show(path, listen, port, token, open_page=open_page)


def show_along(path: Path, port: int = 0) -> None:
    """Serve the page from a child process for as long as this process lives."""
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_show_beside, args=(path, port))
    process.start()
    atexit.register(process.terminate)  # not daemonic: it starts a child itself (`step_scorer`)


def _show_beside(path: Path, port: int) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end() -> None:
        parent.join()
        os._exit(0)

    threading.Thread(target=end, daemon=True).start()
    show(path, "127.0.0.1", port)


def show(path: Path, host: str, port: int, token: str = "", *, open_page: bool = False) -> None:
    """Serve the page until Ctrl-C."""
    from distrl.loopback_peer import owners_are_known
    from distrl.view.resources import Resources
    from distrl.view.run_catalogue import RunCatalogue
    from distrl.view.server import LOOPBACK, Address, serve

    if host in LOOPBACK and not token and not owners_are_known():
        token = secrets.token_urlsafe(16)
    catalogue, asked = RunCatalogue.at(path), Address(host, port, token)

    def ready(address: Address) -> None:
        Console().print(address.url, highlight=False, markup=False, soft_wrap=True)
        if open_page:
            webbrowser.open(address.url)

    serve(Resources(catalogue), asked, ready)
