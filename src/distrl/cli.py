"""The command `distrl`. Each part of it reads words, calls others to work, and shows what came.

Heavy modules are imported inside the commands, so that `distrl --help` answers at once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import distrl
from distrl.errors import DistrlError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Train agents that operate phones, by asynchronous reinforcement learning.",
)
phone_app = typer.Typer(
    no_args_is_help=True, help="The simulated phone: draw its screens, play tasks on it."
)
app.add_typer(phone_app, name="phone")

Seed = Annotated[int, typer.Option(help="Which phone: its look, its contents.")]
AppName = Annotated[str, typer.Option("--app", help="Which app; none: the home screen.")]
Taps = Annotated[
    list[str] | None, typer.Option("--tap", help="Then tap what bears this label; may be repeated.")
]
Out = Annotated[Path, typer.Option(help="The picture to write.")]


def main() -> None:
    """Run the command; what was asked wrongly is said in one line, without a traceback."""
    try:
        app()
    except DistrlError as error:
        Console(stderr=True).print(f"[bold red]{type(error).__name__}[/]: {error}", highlight=False)
        sys.exit(2)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"distrl {distrl.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    """Options that come before the command."""


@app.command()
def train(
    episodes: Annotated[int, typer.Option(min=1, help="Episodes for each agent and family.")] = 60,
    split: Annotated[str, typer.Option(help="Which tasks.")] = "test",
    run: Annotated[Path, typer.Option(help="Where to keep the results.")] = Path("runs/first"),
) -> None:
    """The main job. For now: scripted agents on the simulated phone; the learner comes next."""
    from distrl.reporting.agent_comparison import compare_agents

    compare_agents(Console(), split, episodes, run)


@app.command()
def tasks(
    family: Annotated[str | None, typer.Option(help="general or shopping")] = None,
    split: Annotated[str | None, typer.Option(help="train, test, held_out_…")] = None,
) -> None:
    """List the task templates, each with an example."""
    from distrl.reporting.task_table import task_table

    Console().print(task_table(family, split))


@phone_app.command()
def draw(
    app_name: AppName = "",
    taps: Taps = None,
    seed: Seed = 0,
    out: Out = Path("out/screen.png"),
) -> None:
    """Draw any screen: the home screen, an app, and what taps on labels lead to."""
    from distrl.reporting.screens import draw_screen

    _write(out, draw_screen(app_name, seed, taps or []))


@phone_app.command()
def read(
    app_name: AppName = "",
    taps: Taps = None,
    seed: Seed = 0,
    xml: Annotated[bool, typer.Option("--xml", help="As uiautomator would dump it.")] = False,
) -> None:
    """List what stands on a screen: role, text, bounds and state of every element."""
    from distrl.reporting.screens import read_screen

    found = read_screen(app_name, seed, taps or [], xml)
    if isinstance(found, str):
        typer.echo(found)
    else:
        Console().print(found, highlight=False)


@phone_app.command()
def sheet(seed: Seed = 0, out: Out = Path("out/phone.png")) -> None:
    """Draw the phone's home screen, drawer, shade and the first page of every app on one sheet."""
    from distrl.reporting.screens import draw_sheet

    _write(out, draw_sheet(seed))


@phone_app.command()
def looks(
    app_name: AppName = "",
    seeds: Annotated[int, typer.Option(min=1, max=40, help="How many phones.")] = 12,
    out: Out = Path("out/looks.png"),
) -> None:
    """Draw the same screen on many phones, to see how they differ."""
    from distrl.reporting.screens import draw_looks

    _write(out, draw_looks(app_name, seeds))


@phone_app.command()
def play(
    task_ids: Annotated[
        list[str], typer.Argument(metavar="TASK…", help="For example notes.create/train/3")
    ],
    out: Annotated[Path, typer.Option(help="A film (.gif) or a contact sheet (.png).")] = Path(
        "out/episode.png"
    ),
    agent: Annotated[str, typer.Option(help="scripted, monkey, idle or done")] = "scripted",
) -> None:
    """Play tasks, with the agent's finger drawn on every screen."""
    from distrl.reporting.screens import play_tasks

    for played in play_tasks(task_ids, agent, _ready(out)):
        Console().print(f"{played.ending.value}: {played.task.instruction}", highlight=False)
    Console().print(out, highlight=False)


def _ready(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _write(path: Path, picture: object) -> None:
    from PIL.Image import Image

    assert isinstance(picture, Image)
    picture.save(_ready(path), optimize=True)
    Console().print(f"{path}  ({picture.width} × {picture.height})", highlight=False)
