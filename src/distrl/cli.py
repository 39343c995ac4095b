"""The command `distrl`. Each part of it reads words, calls others to work, and shows what came.

Heavy modules are imported inside the commands, so that `distrl --help` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.markup import escape

import distrl
from distrl.errors import DistrlError, UsageError
from distrl.process_environment import restart_if_needed

Choice = TypeVar("Choice", bound=str)
HEAVY = {"train", "collect", "evaluate"}  # commands with a model in them

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
    if set(sys.argv[1:2]) & HEAVY:
        restart_if_needed()
    try:
        app()
    except DistrlError as error:
        said = f"[bold red]{type(error).__name__}[/]: {escape(str(error))}"
        Console(stderr=True).print(said, highlight=False)
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
    config: Annotated[
        Path | None, typer.Argument(help="Settings, as TOML; none: the defaults.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a setting: replay.capacity=500; may be repeated."),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with the run in this directory.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show settings and memory, and do nothing.")
    ] = False,
) -> None:
    """Train an agent: collectors play, a learner learns, and a report says what came of it."""
    from distrl.engine.train_command import train as train_command

    raise typer.Exit(train_command(Console(), config, settings or [], resume, dry_run=dry_run))


@app.command()
def collect(
    config: Annotated[
        Path | None, typer.Argument(help="Settings, as TOML; none: the defaults.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a setting: run.trajectories=500; may be repeated."),
    ] = None,
) -> None:
    """Collect trajectories without learning: a corpus to train on offline."""
    from distrl.engine.collect_command import collect as collect_command

    raise typer.Exit(collect_command(Console(), config, settings or []))


@app.command()
def devices(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Of the adb server.")] = 5037,
    rounds: Annotated[
        int, typer.Option(min=0, max=1000, help="Measure each operation so often; 0: only list.")
    ] = 5,
) -> None:
    """The phones on adb: state, health, and how long each operation takes."""
    from distrl.reporting.device_table import show_devices

    raise typer.Exit(0 if show_devices(Console(), port, rounds) else 1)


@app.command("prepare-emulator")
def prepare_emulator(
    avd: Annotated[str, typer.Option(help="The virtual device; made if --image is given.")] = (
        "distrl"
    ),
    image: Annotated[
        str | None, typer.Option(help="Make it first, of this image of the SDK.")
    ] = None,
    snapshot: Annotated[str, typer.Option(help="What to call the snapshot.")] = "distrl",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Of the adb server.")] = 5037,
) -> None:
    """Make an Android emulator's virtual device and the snapshot that episodes begin from."""
    from distrl.devices.android_tools import running_server
    from distrl.devices.emulator import EmulatorSettings
    from distrl.devices.virtual_device import create_virtual_device, save_snapshot

    if image is not None:
        create_virtual_device(avd, image)
    log = Path("runs") / f"prepare-{avd}.log"
    save_snapshot(EmulatorSettings(avd, snapshot), running_server(port), log)
    Console().print(f"snapshot {snapshot} of {avd} is ready", highlight=False)


@app.command()
def doctor() -> None:
    """What this machine has and lacks for DistRL."""
    from distrl.reporting.doctor import show_doctor

    raise typer.Exit(0 if show_doctor(Console()) else 1)


@app.command()
def evaluate(
    model: Annotated[
        str,
        typer.Argument(
            help="starter (ours), a directory, a hub id, a server's url (http://…/v1), "
            "or an agent: scripted, idle, done, monkey."
        ),
    ],
    split: Annotated[str, typer.Option(help="Which tasks: test, train, held_out_…")] = "test",
    family: Annotated[str, typer.Option(help="general, shopping or both")] = "both",
    template: Annotated[
        list[str] | None, typer.Option(help="Only tasks of this template; may be repeated.")
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="How many tasks.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Which tasks, and which samples.")] = 0,
    devices: Annotated[int, typer.Option(min=1, max=1024, help="Phones at once.")] = 16,
    greedy: Annotated[bool, typer.Option("--greedy/--sampled", help="How to decide.")] = True,
    temperature: Annotated[float | None, typer.Option(help="For --sampled; 1 if not said.")] = None,
    dialect: Annotated[str | None, typer.Option(help="If not what the model says.")] = None,
    adapter: Annotated[Path | None, typer.Option(help="A LoRA adapter's directory.")] = None,
    device: Annotated[str, typer.Option(help="Where the model computes: cpu or cuda.")] = "cpu",
    blank: Annotated[
        str | None, typer.Option(help="Hide the screen or the instruction from the agent.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Where to write the figures.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where --json left off.")] = False,
) -> None:
    """How good is a model? Success with its 95 % interval on tasks that it has not seen."""
    from distrl.agent.blanked_policy import BLANKS
    from distrl.records import FAMILIES, SPLITS
    from distrl.reporting.model_evaluation import Evaluation, evaluate_model

    if greedy and temperature is not None:
        raise UsageError(f"--temperature {temperature:g} is for --sampled; --greedy has none")
    evaluation = Evaluation(
        model=model,
        split=_one_of("split", split, SPLITS),
        families=FAMILIES if family == "both" else (_one_of("family", family, FAMILIES),),
        templates=tuple(template or ()),
        episodes=episodes,
        seed=seed,
        devices=devices,
        temperature=None if greedy else (1.0 if temperature is None else temperature),
        dialect=dialect,
        adapter=adapter,
        device=device,
        blank=_one_of("blank", blank, BLANKS) if blank else None,
        figures=json,
        resume=resume,
    )
    evaluate_model(Console(), evaluation)


@app.command()
def imitate(
    out: Annotated[Path, typer.Option(help="A directory for the model, new or empty.")] = Path(
        "runs/starter"
    ),
    config: Annotated[
        Path | None, typer.Option(help="A TOML file of settings: docs/starter.md has them.")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="How long to teach.")] = None,
    batch: Annotated[int | None, typer.Option(help="Lessons in a step.")] = None,
    processes: Annotated[int | None, typer.Option(help="That make lessons.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the first weights and the lessons.")] = None,
    enough: Annotated[
        float | None, typer.Option(help="Stop once this share of the exam is right, such as 0.9.")
    ] = None,
    device: Annotated[str, typer.Option(help="Where to compute: cpu or cuda.")] = "cpu",
) -> None:
    """Teach a new starter model from scripted solutions, from random weights."""
    from distrl.reporting.imitation_run import chosen_settings
    from distrl.reporting.imitation_run import imitate as teach_and_show

    given = {"steps": steps, "batch": batch, "processes": processes, "seed": seed, "enough": enough}
    teach_and_show(Console(), chosen_settings(device, config, given), out, device)


@app.command()
def rescore(
    run: Annotated[Path, typer.Argument(help="The directory of a run that is not going on.")],
    server: Annotated[str, typer.Option(help="An OpenAI-compatible url: http://localhost:8000/v1")],
    model: Annotated[str, typer.Option(help="The model that judges.")],
    only_unjudged: Annotated[
        bool, typer.Option("--only-unjudged", help="Only what has no verdict yet.")
    ] = False,
    examples: Annotated[Path | None, typer.Option(help="Examples for the judge, as TOML.")] = None,
    screens: Annotated[int, typer.Option(min=1, help="How many last screens it sees.")] = 2,
    second_model: Annotated[str, typer.Option(help="Asked about some of them as well.")] = "",
    second_share: Annotated[float, typer.Option(min=0, max=1, help="How many of them.")] = 0.1,
    at_once: Annotated[int, typer.Option(min=1, help="Questions at a time.")] = 16,
    per_minute: Annotated[float, typer.Option(help="Questions a minute, at most.")] = float("inf"),
    most_cost: Annotated[float, typer.Option(help="Stop asking then.")] = float("inf"),
    prompt_price: Annotated[float, typer.Option(min=0, help="Per million tokens.")] = 0.0,
    answer_price: Annotated[float, typer.Option(min=0, help="Per million tokens.")] = 0.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Judge, and change nothing.")] = False,
) -> None:
    """Judge a run's stored trajectories anew; training finds the new verdicts.

    The judge's key, if it needs one, is taken from the environment variable DISTRL_JUDGE_KEY.
    """
    from distrl.engine.rescore_command import RescoreRequest
    from distrl.engine.rescore_command import rescore as rescore_command
    from distrl.tasks.rate_budget import BudgetSettings

    request = RescoreRequest(
        run,
        server,
        model,
        only_unjudged=only_unjudged,
        examples=examples,
        last_screens=screens,
        second_model=second_model,
        second_share=second_share,
        at_once=at_once,
        budget=BudgetSettings(per_minute, most_cost=most_cost),
        prompt_price=prompt_price,
        answer_price=answer_price,
        dry_run=dry_run,
    )
    rescore_command(Console(), request)


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


@phone_app.command()
def serve(
    phones: Annotated[int, typer.Option(help="How many; each has a port.")] = 1,
    port: Annotated[int, typer.Option(help="Of the first one; 0: any that are free.")] = 7411,
    seed: Seed = 0,
) -> None:
    """Serve phones to adb, on this machine alone, until Ctrl-C."""
    from distrl.devices.adb_server import serve_phones

    serve_phones(phones, port, seed, lambda line: Console().print(line, highlight=False))


def _one_of(name: str, given: str, choices: Sequence[Choice]) -> Choice:
    for choice in choices:
        if choice == given:
            return choice
    raise UsageError(f"--{name} {given}: there are {', '.join(choices)}")


def _ready(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _write(path: Path, picture: object) -> None:
    from PIL.Image import Image

    assert isinstance(picture, Image)
    picture.save(_ready(path), optimize=True)
    Console().print(f"{path}  ({picture.width} × {picture.height})", highlight=False)
