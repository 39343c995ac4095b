"""What `distrl imitate` does: teaches a new starter model, shows how it gets on, keeps its curve.

Beside the model there are afterwards `curve.json`, `curve.png` and `imitation.json`, the settings
that made it.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from distrl.config.typed_reader import Given, Node, read_section, read_toml
from distrl.errors import UsageError
from distrl.imitation.imitation import ImitationSettings, Progress
from distrl.imitation.pretraining import pretrain
from distrl.imitation.sample_arrays import bytes_per_sample
from distrl.imitation.sample_stream import SLAB, SLABS
from distrl.reporting.curve_picture import draw_curve
from distrl.reporting.imitation_progress import ImitationProgress

PICTURE = "curve.png"
GIGABYTE = 1e9


def settings_for(device: str, cores: int) -> ImitationSettings:
    """What our model was taught with, on a GPU; on a CPU, a small share of it, to look at."""
    settings = ImitationSettings(processes=min(ImitationSettings().processes, max(1, cores - 1)))
    if device != "cpu":
        return settings
    return dataclasses.replace(
        settings,
        steps=200,
        batch=16,
        reservoir=2_048,
        fill=512,
        validation_set=64,
        validate_every=25,
    )


def chosen_settings(
    device: str, config: Path | None, given: Mapping[str, int | float | None]
) -> ImitationSettings:
    """The defaults for a device, changed by a TOML file, changed by what was typed."""
    tree: dict[str, Node] = {} if config is None else read_toml(config)
    for name, value in given.items():
        if value is not None:
            tree[name] = Given(value, f"--{name}")
    return read_section(settings_for(device, os.cpu_count() or 1), tree)


def imitate(
    console: Console,
    settings: ImitationSettings,
    out: Path,
    device: str = "cpu",
    sizes: Mapping[str, int] | None = None,
    start: Path | None = None,
) -> list[Progress]:
    """Teach, show, save; returns the learning curve."""
    check_memory(settings, device, _memory())
    with ImitationProgress(console, settings) as progress:
        curve = pretrain(settings, out, device=device, sizes=sizes, start=start, seen=progress.show)
    draw_curve(curve).save(out / PICTURE)
    exams = [point.validation for point in curve if point.validation is not None]
    said = f", {exams[-1]:.1%} of the exam right" if exams else ""
    console.print(f"{len(curve) and curve[-1].step:,} steps{said}: {out}", highlight=False)
    console.print(f"[dim]distrl evaluate {out}[/] plays with it", highlight=False)
    return curve


def check_memory(settings: ImitationSettings, device: str, there: int) -> None:
    """Lessons are pictures. Better refused now than ended by the system in an hour."""
    samples = settings.validation_set + settings.processes * SLABS * SLAB
    samples += settings.reservoir if device == "cpu" else 0
    if (need := samples * bytes_per_sample()) > there:
        raise UsageError(
            f"{samples:,} lessons in memory take {need / GIGABYTE:.1f} GB, and this machine has "
            f"{there / GIGABYTE:.1f} GB; lower reservoir, exam or processes in the --config file"
        )


def _memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
