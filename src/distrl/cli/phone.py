"""The commands `distrl phone …`: draw the simulated phone, play tasks on it, serve it to adb."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

phone_app = typer.Typer(
    no_args_is_help=True, help="The simulated phone: draw its screens, play tasks on it."
)

Seed = Annotated[int, typer.Option(help="Which phone: its look, its contents.")]
AppName = Annotated[str, typer.Option("--app", help="Which app; none: the home screen.")]
Taps = Annotated[
    list[str] | None, typer.Option("--tap", help="Then tap what bears this label; may be repeated.")
]
Out = Annotated[Path, typer.Option(help="The picture to write.")]


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


@phone_app.command()
def serve(
    phones: Annotated[int, typer.Option(help="How many; each has a port.")] = 1,
    port: Annotated[int, typer.Option(help="Of the first one; 0: any that are free.")] = 7411,
    seed: Seed = 0,
) -> None:
    """Serve phones to adb, on this machine alone, until Ctrl-C."""
    from phonesim.adb_daemon.adb_server import serve_phones

    serve_phones(phones, port, seed, lambda line: Console().print(line, highlight=False))


def _ready(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _write(path: Path, picture: object) -> None:
    from PIL.Image import Image

    assert isinstance(picture, Image)
    picture.save(_ready(path), optimize=True)
    Console().print(f"{path}  ({picture.width} × {picture.height})", highlight=False)
