"""`distrl plan`: predict a system's throughput, staleness and idle time before it is bought.

It reads a plan or a run, simulates it, and prints the prediction and, for a single system, what to
buy next. The simulator is imported when a plan is made, so that `distrl --help` stays fast.
"""

from __future__ import annotations

import json as json_format
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from distrl.errors import UsageError
from distrl.output_file import prepare_output_file

if TYPE_CHECKING:
    from distrl.planning.plan_settings import PlanSettings
    from distrl.planning.purchase import Gain
    from distrl.planning.simulation import Prediction


def plan(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Plan file (TOML); without one, the paper's system. Settings of a run (a file, "
            "or a name of `distrl configs`): say whether they fit this machine."
        ),
    ] = None,
    from_run: Annotated[
        Path | None, typer.Option(help="Plan with the latencies measured in this run directory.")
    ] = None,
    phones: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Number of phones. Repeat the option to compare several systems."),
    ] = None,
    gpus: Annotated[
        list[int] | None, typer.Option(min=1, help="Number of GPUs that run the policy.")
    ] = None,
    learner_gpus: Annotated[
        list[int] | None, typer.Option(min=0, help="Number of GPUs that train.")
    ] = None,
    nodes: Annotated[
        list[int] | None, typer.Option(min=1, help="Number of machines that host phones.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.1, help="Length of the simulated run, in minutes.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
    json: Annotated[
        Path | None, typer.Option(help="Write the predictions to this JSON file.")
    ] = None,
) -> None:
    """Predict trajectories per minute, staleness and idle time of a system before you buy it."""
    if file is not None and from_run is not None:
        raise UsageError(f"{file} and --from-run {from_run}: a plan comes from one of them")
    console = Console()
    if file is not None and _is_run(file, phones, gpus, learner_gpus, nodes):
        from distrl.cli.run_fit import show_fit
        from distrl.config.training_config import load_config

        raise typer.Exit(0 if show_fit(console, load_config(file)) else 1)
    if json is not None:
        prepare_output_file(json, "plan.json")
    settings = _settings(console, file, from_run)
    systems = _systems(settings, phones or [], gpus or [], learner_gpus or [], nodes or [])
    found = _show(console, systems, seed, minutes)
    if json is not None:
        from distrl.runs.run_directory import write_whole

        write_whole(json, json_format.dumps(found, indent=2, allow_nan=False) + "\n")
        console.print(json, highlight=False, markup=False)


def _is_run(file: Path, *counts: list[int] | None) -> bool:
    """Return whether the file has a run's settings; raise if counts are given beside them."""
    from distrl.cli.run_fit import is_run_config

    if not is_run_config(file):
        return False
    if any(counts):
        raise UsageError(
            f"{file} has the settings of a run, with its phones and GPUs in them; --phones, "
            "--gpus, --learner-gpus and --nodes are for plans: `distrl plan large_lab --phones 64`"
        )
    return True


def _show(
    console: Console, systems: Sequence[PlanSettings], seed: int, minutes: float | None
) -> dict[str, Any]:
    """Print the predictions; for a single system also what to buy next. Returns the figures."""
    from distrl.planning.purchase import advice, weigh
    from distrl.planning.simulation import simulate

    predictions = [simulate(each, seed, minutes) for each in systems]
    console.print(prediction_table(predictions), highlight=False)
    found: dict[str, Any] = {"predictions": [asdict(each) for each in predictions]}
    if len(systems) == 1:
        gains = weigh(systems[0], predictions[0], seed, minutes)
        said = advice(predictions[0], gains, systems[0].pacing.samples_per_insert)
        console.print("", gain_table(gains), "", said, sep="\n", highlight=False)
        found |= {"gains": {each.name: each.trajectories for each in gains}, "advice": said}
    return found


def _settings(console: Console, file: Path | None, run: Path | None) -> PlanSettings:
    from distrl.planning.plan_settings import PlanSettings, load_plan

    if run is None:
        return PlanSettings() if file is None else load_plan(file)
    from distrl.planning.measured_run import measured_run

    measured = measured_run(run)
    made = f"it made {measured.trajectories_per_minute:.1f} trajectories a minute itself"
    for note in (*measured.notes, made):
        console.print(f"{run}: {note}", highlight=False, markup=False, soft_wrap=True)
    return measured.settings


def _systems(
    settings: PlanSettings,
    phones: list[int],
    gpus: list[int],
    learner_gpus: list[int],
    nodes: list[int],
) -> list[PlanSettings]:
    """Return one system per number of phones; give the other counts once, or once per system."""
    count = max(1, len(phones))
    columns = {
        "--phones": phones or [settings.phones.count],
        "--gpus": gpus or [settings.policy.copies],
        "--learner-gpus": learner_gpus or [settings.learner.gpus],
        "--nodes": nodes or [settings.collectors.nodes],
    }
    for name, given in columns.items():
        if len(given) not in (1, count):
            raise UsageError(
                f"{name} was given {len(given)} times and --phones {count} times; give it once, "
                "or once for each number of phones"
            )
    rows = [given if len(given) == count else given * count for given in columns.values()]
    return [_changed(settings, *chosen) for chosen in zip(*rows, strict=True)]


def _changed(
    settings: PlanSettings, phones: int, gpus: int, learner_gpus: int, nodes: int
) -> PlanSettings:
    """Change the counts; the number of collectors per node stays the same."""
    before = settings.collectors
    collectors = max(1, min(phones, round(before.count * nodes / before.nodes)))
    return replace(
        settings,
        phones=replace(settings.phones, count=phones),
        policy=replace(settings.policy, copies=gpus),
        learner=replace(settings.learner, gpus=learner_gpus),
        collectors=replace(before, count=collectors, nodes=nodes),
    )


ROWS: tuple[tuple[str, Callable[[Prediction], str]], ...] = (
    ("GPUs that decide", lambda p: f"{p.policy_gpus:,}"),
    ("GPUs that learn", lambda p: f"{p.learner_gpus:,}"),
    ("[bold]trajectories / min[/]", lambda p: f"[bold]{_figure(p.trajectories_per_minute)}[/]"),
    ("decisions / s", lambda p: _figure(p.decisions_per_second)),
    ("mean batch", lambda p: _figure(p.mean_batch)),
    ("episode", lambda p: f"{_figure(p.episode_seconds)} s"),
    ("phones busy", lambda p: f"{p.device_busy:.1%}"),
    ("  wait for decisions", lambda p: f"{p.phone_time['decide']:.1%}"),
    ("  wait to be let start", lambda p: f"{p.phone_time['admission']:.1%}"),
    ("  wait to deliver", lambda p: f"{p.phone_time['deliver']:.1%}"),
    ("  wait for collectors", lambda p: f"{p.phone_time['own']:.1%}"),
    ("deciding GPUs busy", lambda p: f"{p.policy_busy:.1%}"),
    ("  of what they could do", lambda p: f"{p.policy_load:.1%}"),
    ("learner idle", lambda p: f"{p.learner_idle:.1%}" if p.learner_gpus else "–"),
    ("updates / min", lambda p: _figure(p.updates_per_minute)),
    ("draws per trajectory", lambda p: f"{p.samples_per_insert:.2f}"),
    ("staleness, mean", lambda p: f"{p.staleness.mean:.2f}"),
    ("  median · 95 % · most", lambda p: _spread(p)),
    ("  of what is drawn", lambda p: f"{p.staleness.learned:.1f}"),
    ("came too late", lambda p: f"{p.stale_share:.1%}"),
    ("to the learner", lambda p: f"{_figure(p.to_learner_megabits)} Mbit/s"),
    ("from the learner", lambda p: f"{_figure(p.from_learner_megabits)} Mbit/s"),
    ("weights at last node", lambda p: f"{_figure(p.broadcast_seconds)} s"),
    ("learner's memory", lambda p: f"{_figure(p.learner_gigabytes)} GB"),
    ("phone node's memory", lambda p: f"{_figure(p.node_gigabytes)} GB"),
)


def prediction_table(predictions: Sequence[Prediction]) -> Table:
    """One column per system."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("phones", no_wrap=True)
    for prediction in predictions:
        table.add_column(f"{prediction.phones:,}", justify="right")
    for name, format_cell in ROWS:
        table.add_row(name, *(format_cell(each) for each in predictions))
    return table


def gain_table(gains: Sequence[Gain]) -> Table:
    table = Table("if there were", box=None, padding=(0, 3, 0, 0))
    table.add_column("trajectories / min", justify="right")
    table.add_column("updates / min", justify="right")
    for gain in gains:
        table.add_row(gain.name, f"{gain.trajectories:+.1%}", f"{gain.updates:+.1%}")
    return table


def _spread(prediction: Prediction) -> str:
    spread = prediction.staleness
    return f"{spread.median:.0f} · {spread.high:.0f} · {spread.most}"


def _figure(number: float) -> str:
    if number >= 100.0:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 10.0 else f"{number:.2f}"
