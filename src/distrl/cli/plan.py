"""What `distrl plan` does: read a plan or a run, simulate it, and say what to buy next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from distrl.errors import UsageError
from distrl.planning.measured_run import measured_run
from distrl.planning.plan_settings import PlanSettings, load_plan
from distrl.planning.plan_table import gain_table, prediction_table
from distrl.planning.purchase import advice, weigh
from distrl.planning.simulation import simulate
from distrl.runs.run_directory import write_whole

CHECK_FILE = Path("runs/plan-check.json")
GOAL = 0.1  # of the measured throughput


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What was asked for. Several phones are several systems; GPUs are one for all or one each."""

    file: Path | None = None
    run: Path | None = None
    phones: tuple[int, ...] = ()
    gpus: tuple[int, ...] = ()
    learner_gpus: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()
    minutes: float | None = None
    seed: int = 0
    figures: Path | None = None


def plan(console: Console, request: PlanRequest) -> None:
    """Predict; with one system, say what to buy next as well."""
    if request.file is not None and request.run is not None:
        raise UsageError(
            f"{request.file} and --from-run {request.run}: a plan comes from one of them"
        )
    settings = _begin(console, request)
    systems = _systems(settings, request)
    predictions = [simulate(each, request.seed, request.minutes) for each in systems]
    console.print(prediction_table(predictions), highlight=False)
    found: dict[str, Any] = {"predictions": [each.to_json() for each in predictions]}
    if len(systems) == 1:
        found |= _advise(console, systems[0], request, predictions)
    if request.figures is not None:
        _write(console, request.figures, found)


def _begin(console: Console, request: PlanRequest) -> PlanSettings:
    if request.run is None:
        return PlanSettings() if request.file is None else load_plan(request.file)
    measured = measured_run(request.run)
    made = f"it made {measured.trajectories_per_minute:.1f} trajectories a minute itself"
    for note in (*measured.notes, made):
        console.print(f"{request.run}: {note}", highlight=False, markup=False, soft_wrap=True)
    return measured.settings


def _advise(
    console: Console, settings: PlanSettings, request: PlanRequest, predictions: Sequence[Any]
) -> dict[str, Any]:
    [now] = predictions
    gains = weigh(settings, now, request.seed, request.minutes)
    console.print()
    console.print(gain_table(gains), highlight=False)
    said = advice(now, gains, settings.pacing.samples_per_insert)
    console.print()
    console.print(said, highlight=False)
    offers = {each.offer.name: each.trajectories for each in gains}
    return {"gains": offers, "advice": said}


def _systems(settings: PlanSettings, request: PlanRequest) -> list[PlanSettings]:
    count = max(1, len(request.phones))
    columns = {
        "--phones": request.phones or (settings.phones.count,),
        "--gpus": request.gpus or (settings.policy.copies,),
        "--learner-gpus": request.learner_gpus or (settings.learner.gpus,),
        "--nodes": request.nodes or (settings.collectors.nodes,),
    }
    rows = []
    for name, given in columns.items():
        if len(given) not in (1, count):
            raise UsageError(
                f"{name} was given {len(given)} times and --phones {count} times; give it once, "
                "or once for each number of phones"
            )
        rows.append(given * count if len(given) == 1 else given)
    return [_changed(settings, *chosen) for chosen in zip(*rows, strict=True)]


def _changed(
    settings: PlanSettings, phones: int, gpus: int, learner_gpus: int, nodes: int
) -> PlanSettings:
    """Collectors stay as many to a node as they were."""
    before = settings.collectors
    collectors = max(1, min(phones, round(before.count * nodes / before.nodes)))
    return replace(
        settings,
        phones=replace(settings.phones, count=phones),
        policy=replace(settings.policy, copies=gpus),
        learner=replace(settings.learner, gpus=learner_gpus),
        collectors=replace(before, count=collectors, nodes=nodes),
    )


def check(console: Console, figures_file: Path | None, seconds: float | None) -> bool:
    """Real runs beside their predictions; True if all are within the goal."""
    from benchmarks import plan_check

    each_takes = plan_check.SECONDS if seconds is None else seconds
    console.print(
        f"{len(plan_check.SYSTEMS) + 1} real runs of {each_takes:g} s, the first to calibrate; "
        f"clock x {plan_check.SPEED:g}",
        highlight=False,
    )
    overheads = plan_check.calibrate(each_takes)
    checked = []
    for each in plan_check.check(overheads, each_takes):
        checked.append(each)
        console.print(
            f"{each.name}: {each.predicted.trajectories_per_minute:.1f} predicted, "
            f"{each.measured.trajectories_per_minute:.1f} measured, {each.error:.1%} off",
            highlight=False,
        )
    console.print()
    console.print(check_table(checked), highlight=False)
    figures = plan_check.figures(checked)
    console.print(f"plan_error_max {figures['plan_error_max']:.3f}", highlight=False)
    _write(console, figures_file or CHECK_FILE, figures)
    return figures["plan_error_max"] <= GOAL


def check_table(checked: Sequence[Any]) -> Table:
    """Predicted beside measured."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("predicted · measured")  # names may take two lines, figures may not be cut
    for name in ("per min", "off", "busy", "staleness", "idle"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in checked:
        predicted, measured = each.predicted, each.measured
        table.add_row(
            each.name,
            f"{predicted.trajectories_per_minute:.1f} · {measured.trajectories_per_minute:.1f}",
            f"{each.error:.1%}",
            f"{predicted.device_busy:.0%} · {measured.device_busy:.0%}",
            f"{predicted.staleness.mean:.2f} · {measured.staleness_mean:.2f}",
            f"{predicted.learner_idle:.0%} · {measured.learner_idle:.0%}",
        )
    return table


def _write(console: Console, path: Path, figures: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(figures, indent=2, allow_nan=False) + "\n")
    console.print(path, highlight=False, markup=False)
