"""The command `distrl`: registers the commands, one module each, and prints errors in one line.

Heavy modules are imported inside the commands, so that `distrl --help` answers at once.
"""

from __future__ import annotations

import errno
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

import distrl
from distrl.cli.cluster import cluster_app
from distrl.cli.collect import collect
from distrl.cli.configs import configs
from distrl.cli.devices import ANY_WORDS, adb, devices
from distrl.cli.doctor import doctor
from distrl.cli.evaluate import evaluate
from distrl.cli.export import export
from distrl.cli.imitate import imitate
from distrl.cli.init import init
from distrl.cli.leaderboard import leaderboard
from distrl.cli.model import model_app
from distrl.cli.phone import phone_app
from distrl.cli.plan import plan
from distrl.cli.play import play
from distrl.cli.prepare_emulator import prepare_emulator
from distrl.cli.reproduce import reproduce
from distrl.cli.rescore import rescore
from distrl.cli.runs import compare, report, runs
from distrl.cli.train import train
from distrl.cli.view import view
from distrl.errors import (
    INSTALL_LEARN,
    NO_MEMORY,
    NO_SPACE,
    TOO_MANY,
    DistrlError,
    NotInstalled,
    storage_error,
)
from distrl.process_environment import restart_if_needed
from distrl.standard_streams import open_streams, outlast_readers
from phonesim.cli import tasks

HEAVY = {"train", "collect", "evaluate", "play", "reproduce"}  # commands that load a model
LASTING = {"train", "collect", "imitate", "reproduce", "cluster"}  # they outlive their terminal
UNNAMED = {  # by errno: what to name for an OSError that has no file name
    errno.ENOENT: "the folder that the command was given in",
    **dict.fromkeys(NO_SPACE, "the place that the output goes to"),
    **dict.fromkeys((*TOO_MANY, *NO_MEMORY), "this machine"),
}
LEARN = (
    "torch", "safetensors", "transformers", "tokenizers", "peft", "tensorboard", "jinja2",
    "markupsafe", "matplotlib",
)  # fmt: skip
EXTRAS = {  # by package: the extra that installs it
    **dict.fromkeys(LEARN, "learn"),
    "gymnasium": "gym", "pyarrow": "data", "adbutils": "android", "grpc": "android",
    "httpx": "served", "ray": "ray",
    "starlette": "view", "uvicorn": "view", "cryptography": "join",
}  # fmt: skip

app = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    help="Train agents that operate phones, by asynchronous reinforcement learning.",
)
app.add_typer(phone_app, name="phone")
app.add_typer(cluster_app, name="cluster")
app.add_typer(model_app, name="model")


def main() -> None:
    """Run the command; print our own errors and file errors in one line, without a traceback."""
    open_streams()
    if set(sys.argv[1:2]) & HEAVY:
        restart_if_needed()
    if set(sys.argv[1:2]) & LASTING:
        outlast_readers()
    try:
        app()
    except DistrlError as error:
        sys.exit(_show(error))
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        extra = EXTRAS[package]
        advice = INSTALL_LEARN if extra == "learn" else f"pip install 'distrl[{extra}]'"
        sys.exit(_show(NotInstalled(f"this needs the package {package!r}: {advice}")))
    except OSError as error:
        about = error.filename or UNNAMED.get(error.errno or 0)
        if about is None:
            raise
        sys.exit(_show(storage_error(error, f"using {about}")))


def _show(error: DistrlError) -> int:
    said = f"[bold red]{type(error).__name__}[/]: {escape(str(error))}"
    try:
        Console(stderr=True).print(said, highlight=False)
    except OSError:  # rich opens files itself, and no file descriptor may be left
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    return 2


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"distrl {distrl.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Options that come before the command."""


for command in (
    train, view, play, runs, compare, report, collect, evaluate, leaderboard, imitate, rescore,
    export, tasks, plan, devices, prepare_emulator, doctor, configs, init, reproduce,
):  # fmt: skip
    app.command()(command)
app.command(context_settings=ANY_WORDS)(adb)
