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
from distrl.cli.cluster import cluster_app
from distrl.cli.export import export
from distrl.cli.phone import phone_app
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
app.add_typer(phone_app, name="phone")
app.add_typer(cluster_app, name="cluster")
app.command()(export)


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
    engine: Annotated[
        str | None, typer.Option(help="local, or ray for a cluster; as --set engine.kind=ray.")
    ] = None,
    address: Annotated[
        str | None, typer.Option(help="Of the Ray cluster: HOST:PORT or auto; local: a private one")
    ] = None,
) -> None:
    """Train an agent: collectors play, a learner learns, and a report says what came of it."""
    from distrl.cli.train import train as train_command

    words = list(settings or [])
    words += [f"engine.kind={engine}"] if engine is not None else []
    words += [f'engine.address="{address}"'] if address is not None else []
    raise typer.Exit(train_command(Console(), config, words, resume, dry_run=dry_run))


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
    from distrl.cli.collect import collect as collect_command

    raise typer.Exit(collect_command(Console(), config, settings or []))


@app.command()
def devices(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Of the adb server.")] = 5037,
    rounds: Annotated[
        int, typer.Option(min=0, max=1000, help="Measure each operation so often; 0: only list.")
    ] = 5,
) -> None:
    """The phones on adb: state, health, and how long each operation takes."""
    from distrl.cli.devices import show_devices

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
    from distrl.devices.adb.android_tools import running_server
    from distrl.devices.emulator.emulator import EmulatorSettings
    from distrl.devices.emulator.virtual_device import create_virtual_device, save_snapshot

    if image is not None:
        create_virtual_device(avd, image)
    log = Path("runs") / f"prepare-{avd}.log"
    save_snapshot(EmulatorSettings(avd, snapshot), running_server(port), log)
    Console().print(f"snapshot {snapshot} of {avd} is ready", highlight=False)


@app.command()
def plan(
    file: Annotated[
        Path | None, typer.Argument(help="A plan, as TOML; none: the paper's system.")
    ] = None,
    from_run: Annotated[
        Path | None, typer.Option(help="Take the latencies that this run has measured.")
    ] = None,
    phones: Annotated[
        list[int] | None, typer.Option(min=1, help="How many; repeat it to compare.")
    ] = None,
    gpus: Annotated[list[int] | None, typer.Option(min=1, help="GPUs that decide.")] = None,
    learner_gpus: Annotated[list[int] | None, typer.Option(min=0, help="That learn.")] = None,
    nodes: Annotated[list[int] | None, typer.Option(min=1, help="Machines with phones.")] = None,
    minutes: Annotated[float | None, typer.Option(min=0.1, help="To simulate.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the simulation.")] = 0,
    json: Annotated[Path | None, typer.Option(help="Where to write the figures.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Hold it against real runs.")] = False,
    seconds: Annotated[float | None, typer.Option(min=1.0, help="Of each, for --check.")] = None,
) -> None:
    """Before you buy: trajectories per minute, staleness and idling of a system on paper."""
    from distrl.cli.plan import PlanRequest
    from distrl.cli.plan import check as check_plan
    from distrl.cli.plan import plan as plan_command

    if check:
        raise typer.Exit(0 if check_plan(Console(), json, seconds) else 1)
    request = PlanRequest(
        file,
        from_run,
        phones=tuple(phones or ()),
        gpus=tuple(gpus or ()),
        learner_gpus=tuple(learner_gpus or ()),
        nodes=tuple(nodes or ()),
        minutes=minutes,
        seed=seed,
        figures=json,
    )
    plan_command(Console(), request)


@app.command()
def doctor(
    cluster: Annotated[
        bool, typer.Option("--cluster", help="Look at the nodes of a Ray cluster instead.")
    ] = False,
    address: Annotated[
        str, typer.Option(help="Of the cluster: HOST:PORT, or the one on this machine.")
    ] = "auto",
) -> None:
    """What this machine, or a Ray cluster, has and lacks for DistRL."""
    if cluster:
        from distrl.cli.cluster_doctor import show_cluster_doctor

        raise typer.Exit(0 if show_cluster_doctor(Console(), address) else 1)
    from distrl.cli.doctor import show_doctor

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
    greedy: Annotated[
        bool,
        typer.Option("--greedy/--sampled", help="The likeliest token, or drawn as in training."),
    ] = False,
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
    from distrl.cli.evaluate import Evaluation, evaluate_model
    from distrl.records import FAMILIES, SPLITS

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
    start: Annotated[
        Path | None, typer.Option(help="Go on with the starter model in this directory.")
    ] = None,
    device: Annotated[str, typer.Option(help="Where to compute: cpu or cuda.")] = "cpu",
) -> None:
    """Teach a starter model from scripted solutions, from random weights unless told otherwise."""
    from distrl.cli.imitate import chosen_settings
    from distrl.cli.imitate import imitate as teach_and_show

    given = {"steps": steps, "batch": batch, "processes": processes, "seed": seed, "enough": enough}
    teach_and_show(Console(), chosen_settings(device, config, given), out, device, start=start)


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
    max_cost: Annotated[float, typer.Option(help="Stop asking then.")] = float("inf"),
    prompt_price: Annotated[float, typer.Option(min=0, help="Per million tokens.")] = 0.0,
    answer_price: Annotated[float, typer.Option(min=0, help="Per million tokens.")] = 0.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Judge, and change nothing.")] = False,
) -> None:
    """Judge a run's stored trajectories anew; training finds the new verdicts.

    The judge's key, if it needs one, is taken from the environment variable DISTRL_JUDGE_KEY.
    """
    from distrl.cli.rescore import RescoreRequest
    from distrl.cli.rescore import rescore as rescore_command
    from distrl.judging.rate_budget import BudgetSettings

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
        budget=BudgetSettings(per_minute, max_cost=max_cost),
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
    from distrl.cli.tasks import task_table

    Console().print(task_table(family, split))


def _one_of(name: str, given: str, choices: Sequence[Choice]) -> Choice:
    for choice in choices:
        if choice == given:
            return choice
    raise UsageError(f"--{name} {given}: there are {', '.join(choices)}")
