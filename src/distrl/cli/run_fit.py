"""Whether a run's settings fit this machine: what `distrl plan CONFIG` prints.

For memory, disk and the GPU: how much the run needs, by purpose, and how much is available. The
size of a model that is not on the disk yet is read from its name (3B: 3 billion weights). Speed is
not predicted here: `distrl plan --from-run RUN` does that from the measurements of a short run.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from distrl.config.config_file import found_config
from distrl.config.typed_reader import read_toml

if TYPE_CHECKING:
    from distrl.config.training_config import TrainingConfig

OF_A_RUN = {
    "run", "tasks", "devices", "judge", "agent", "collection", "learning", "engine", "environments",
}  # fmt: skip
NO_GPU = "torch sees no GPU here: `distrl doctor` says why; train on a machine that has one"


@dataclass(frozen=True, slots=True)
class Need:
    """Bytes of a resource that a run needs, and that are available; None: not known."""

    what: str
    wanted: int | None
    there: int | None
    advice: str = ""
    parts: Mapping[str, int] = field(default_factory=dict)  # of `wanted`, by purpose

    @property
    def fits(self) -> bool | None:
        if self.wanted is None or self.there is None:
            return None
        return self.wanted <= self.there


def is_run_config(file: Path) -> bool:
    """Return whether a file has the settings of a run, as opposed to a plan."""
    return bool(OF_A_RUN & set(read_toml(found_config(file))))


def show_fit(console: Console, config: TrainingConfig, folder: Path = Path()) -> bool:
    """Print what the run needs and what is available; return False if anything is too small."""
    found = needs(config, folder)
    table = Table("", "wants", "there is", "", box=None, padding=(0, 3, 0, 0))
    marks = {True: "[green]fits[/]", False: "[red]too small[/]", None: "[yellow]not known[/]"}
    for each in found:
        advice = f"  {each.advice}" if each.fits is False else ""
        table.add_row(each.what, _size(each.wanted), _size(each.there), marks[each.fits] + advice)
    console.print(table, highlight=False)
    for each in found:
        said = ", ".join(f"{name} {_size(size)}" for name, size in each.parts.items())
        if said:
            console.print(f"{each.what}, computed: {said}", highlight=False, style="dim")
    good = all(each.fits is not False for each in found)
    words = "It fits." if good else "It does not fit here."
    console.print(
        f"{words} How fast it goes: train for ten minutes, then distrl plan --from-run RUN"
    )
    return good


def needs(config: TrainingConfig, folder: Path) -> list[Need]:
    from distrl.process_environment import available_memory
    from distrl.reporting.memory_estimate import estimate_disk, estimate_memory

    parts = estimate_memory(config)
    memory = Need("memory", sum(parts.values()), available_memory(), _memory_advice(config), parts)
    disk = Need("disk", estimate_disk(config), shutil.disk_usage(folder).free,
                "lower store.byte_limit")  # fmt: skip
    return [memory, disk, *_gpu(config)]


def _memory_advice(config: TrainingConfig) -> str:
    kinds = {each.devices.kind for each in config.by_environment().values()}
    emulators = "devices.count and " if "emulator" in kinds else ""
    return f"lower {emulators}replay.byte_limit"


def _gpu(config: TrainingConfig) -> list[Need]:
    device = config.agent.policy.device
    if not device.startswith("cuda") or config.engine.kind == "ray":  # see `doctor --cluster`
        return []
    from distrl.agent.torch_device import free_gpu_memory
    from distrl.reporting.gpu_estimate import estimate_gpu_memory, gpu_advice

    there = free_gpu_memory(device)
    parts = estimate_gpu_memory(config, there)
    advice = NO_GPU if there is None else gpu_advice(config)
    return [Need(f"GPU ({device})", sum(parts.values()) or None, there or 0, advice, parts)]


def _size(size: int | None) -> str:
    return "?" if size is None else f"{size / 2**30:.1f} GB" if size else "none"
