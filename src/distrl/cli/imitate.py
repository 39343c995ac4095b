"""`distrl imitate`: pretrain a starter model on demonstrations, and show its learning curve.

With `--model` it fine-tunes that model (such as a language model) instead of a starter. Beside a
starter it writes `curve.json`, `curve.png` and `imitation.json`, the settings; beside another model
`curve.json`. torch is imported where it is needed, so that `distrl --help` answers at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from distrl.agent.prompt import Sees
from distrl.errors import UsageError

if TYPE_CHECKING:
    from distrl.imitation.cloning import CloningProgress, CloningSettings
    from distrl.imitation.imitation import ImitationSettings, Progress

PICTURE, CURVE = "curve.png", "curve.json"


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
    model: Annotated[
        str | None, typer.Option(help="Teach this model instead: a directory or a hub id.")
    ] = None,
    lora: Annotated[
        int | None, typer.Option(min=1, help="With --model: train adapters of this rank alone.")
    ] = None,
    sees: Annotated[
        Sees | None,
        typer.Option(help="With --model: what it reads of a screen; default: its family's."),
    ] = None,
    device: Annotated[str, typer.Option(help="Where the model computes: cpu or cuda.")] = "cpu",
) -> None:
    """Pretrain a starter model on scripted demonstrations, by default from random weights."""
    given = {"steps": steps, "batch": batch, "processes": processes, "seed": seed, "enough": enough}
    if model is not None:
        if start is not None or enough is not None:
            raise UsageError(
                "--start and --enough are for the starter; leave them out with --model"
            )
        settings = cloning_settings(device, config, given)
        teach_and_show(Console(), model, settings, out, device, lora, sees)
        return
    if sees is not None:
        raise UsageError("--sees goes with --model; the starter sees screens alone")
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


def cloning_settings(
    device: str, config: Path | None, given: Mapping[str, int | float | None]
) -> CloningSettings:
    """The defaults for a device, overridden by a TOML file, overridden by options."""
    from distrl.config.typed_reader import Given, Node, read_section, read_toml
    from distrl.imitation.cloning import settings_for

    tree: dict[str, Node] = {} if config is None else read_toml(config)
    tree |= {name: Given(each, f"--{name}") for name, each in given.items() if each is not None}
    return read_section(settings_for(device, os.cpu_count() or 1), tree)


def teach_and_show(
    console: Console,
    model: str,
    settings: CloningSettings,
    out: Path,
    device: str = "cpu",
    lora: int | None = None,
    sees: Sees | None = None,
) -> list[CloningProgress]:
    """Fine-tune a model by behaviour cloning; save it, and save and return its learning curve."""
    from distrl.agent.loading import open_policy
    from distrl.agent.lora import LoraSettings
    from distrl.agent.policy_weights import export_policy
    from distrl.agent.vlm_settings import VlmSettings
    from distrl.imitation.cloning import clone

    if out.exists():  # fail before training: it is written at the end
        raise UsageError(f"{out} is there already; give a directory that is not")
    adapters = None if lora is None else LoraSettings(lora, 2 * lora)
    chosen = VlmSettings(lora=adapters, device=device, seed=settings.seed)
    policy = open_policy(model, chosen, sees=sees)

    def show(point: CloningProgress) -> None:
        right = "" if point.validation is None else f", validation {point.validation:.1%}"
        console.print(
            f"{point.step:,} of {settings.steps:,} steps: loss {point.loss:.3f}{right}, "
            f"{point.tokens / max(point.seconds, 1e-3):,.0f} tokens/s, "
            f"{point.waited / max(point.seconds, 1e-3):.0%} of the time without demonstrations",
            highlight=False,
        )

    curve = clone(policy, settings, show)
    export_policy(policy, out)
    (out / CURVE).write_text(json.dumps([asdict(each) for each in curve], indent=1), "utf-8")
    console.print(f"{out}: measure it with distrl evaluate {out}", highlight=False)
    return curve


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
