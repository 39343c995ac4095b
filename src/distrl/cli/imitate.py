"""`distrl imitate`: pretrains a starter model on demonstrations, and shows its learning curve.

Beside the model it leaves `curve.json`, `curve.png` and `imitation.json`, the settings that were
used. What loads torch is imported where it is needed, so that `distrl --help` answers at once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from distrl.imitation.imitation import ImitationSettings, Progress

PICTURE = "curve.png"


def imitate(
    out: Annotated[
        Path, typer.Option(help="Directory for the model; it must be new or empty.")
    ] = Path("runs/starter"),
    config: Annotated[
        Path | None, typer.Option(help="TOML file of settings; docs/starter.md lists them.")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="Number of training steps.")] = None,
    batch: Annotated[int | None, typer.Option(help="Number of samples in a batch.")] = None,
    processes: Annotated[
        int | None, typer.Option(help="Number of processes that make samples.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the initial weights and of the samples.")
    ] = None,
    enough: Annotated[
        float | None,
        typer.Option(help="Stop early at this share of right validation samples, such as 0.9."),
    ] = None,
    start: Annotated[
        Path | None, typer.Option(help="Train the starter model in this directory further.")
    ] = None,
    device: Annotated[str, typer.Option(help="Where the model computes: cpu or cuda.")] = "cpu",
) -> None:
    """Pretrain a starter model on scripted demonstrations, by default from random weights."""
    given = {"steps": steps, "batch": batch, "processes": processes, "seed": seed, "enough": enough}
    pretrain_and_show(Console(), chosen_settings(device, config, given), out, device, start=start)


def chosen_settings(
    device: str, config: Path | None, given: Mapping[str, int | float | None]
) -> ImitationSettings:
    """The defaults for a device, overridden by a TOML file, overridden by options."""
    from distrl.config.typed_reader import Given, Node, read_section, read_toml
    from distrl.imitation.pretraining import settings_for

    tree: dict[str, Node] = {} if config is None else read_toml(config)
    for name, value in given.items():
        if value is not None:
            tree[name] = Given(value, f"--{name}")
    return read_section(settings_for(device, os.cpu_count() or 1), tree)


def pretrain_and_show(
    console: Console,
    settings: ImitationSettings,
    out: Path,
    device: str = "cpu",
    sizes: Mapping[str, int] | None = None,
    start: Path | None = None,
) -> list[Progress]:
    """Pretrain with a progress display, and save model and curve; return the learning curve."""
    from distrl.imitation.pretraining import check_memory, pretrain
    from distrl.reporting.curve_picture import draw_curve
    from distrl.reporting.progress import ImitationProgress

    check_memory(settings, device, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with ImitationProgress(console, settings) as progress:
        curve = pretrain(settings, out, device=device, sizes=sizes, start=start, seen=progress.show)
    draw_curve(curve).savefig(out / PICTURE)
    validations = [point.validation for point in curve if point.validation is not None]
    right = f", {validations[-1]:.1%} of the validation set right" if validations else ""
    console.print(f"{len(curve) and curve[-1].step:,} steps{right}: {out}", highlight=False)
    console.print(f"[dim]distrl evaluate {out}[/] plays with it", highlight=False)
    return curve
