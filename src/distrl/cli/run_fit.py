"""Whether a run's settings fit this machine: what `distrl plan CONFIG` says about one.

Memory, disk and the GPU, each with what it is for, what it wants and what is there. A model that is
not on the disk yet is taken by the number in its name (3B is 3 billion weights). Activations are
not counted: micro-batches shrink to what is left. How fast a run would go is another question:
`distrl plan --from-run RUN` answers it with what a short run has measured.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from distrl.config.config_file import found_config
from distrl.config.typed_reader import read_toml

if TYPE_CHECKING:
    from distrl.config.training_config import TrainingConfig

OF_A_RUN = {"run", "tasks", "devices", "judge", "agent", "collection", "learning", "engine"}
BILLIONS = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)B(?![\w])")
VISION = 1.25  # weights of a vision-language model beside those that its name counts
COPIES = {"adapters": 1.1, "all": 4.0}  # weights, gradients, two moments


@dataclass(frozen=True, slots=True)
class Need:
    """Bytes that a run wants of something, and those there are; None: not known."""

    what: str
    wanted: int | None
    there: int | None
    advice: str = ""

    @property
    def fits(self) -> bool | None:
        if self.wanted is None or self.there is None:
            return None
        return self.wanted <= self.there


def is_run_config(file: Path) -> bool:
    """Whether a file has settings of a run, and is no plan."""
    return bool(OF_A_RUN & set(read_toml(found_config(file))))


def show_fit(console: Console, config: TrainingConfig, folder: Path = Path()) -> bool:
    """Print what the run wants beside what is there; False where something is too small."""
    found = needs(config, folder)
    table = Table("", "wants", "there is", "", box=None, padding=(0, 3, 0, 0))
    marks = {True: "[green]fits[/]", False: "[red]too small[/]", None: "[yellow]not known[/]"}
    for each in found:
        advice = f"  {each.advice}" if each.fits is False else ""
        table.add_row(each.what, _size(each.wanted), _size(each.there), marks[each.fits] + advice)
    console.print(table, highlight=False)
    good = all(each.fits is not False for each in found)
    words = "It fits." if good else "It does not fit here."
    console.print(
        f"{words} How fast it goes: train for ten minutes, then distrl plan --from-run RUN"
    )
    return good


def needs(config: TrainingConfig, folder: Path) -> list[Need]:
    from distrl.process_environment import available_memory
    from distrl.reporting.memory_estimate import estimate_disk, estimate_memory, model_bytes

    on_disk = model_bytes(Path(config.agent.model)) is not None
    parts = estimate_memory(config)
    own = (
        0 if on_disk or config.agent.model == "starter" else (named_bytes(config.agent.model) or 0)
    )
    memory = Need("memory", sum(parts.values()) + own, available_memory(),
                  "lower replay.byte_limit")  # fmt: skip
    disk = Need("disk", estimate_disk(config), shutil.disk_usage(folder).free,
                "lower store.byte_limit")  # fmt: skip
    return [memory, disk, *_gpu(config)]


def _gpu(config: TrainingConfig) -> list[Need]:
    device = config.agent.policy.device
    if not device.startswith("cuda"):
        return []
    from distrl.agent.torch_device import free_gpu_memory

    kind = "adapters" if config.agent.policy.lora is not None else "all"
    weights = named_bytes(config.agent.model, config.agent.policy.weights)
    wanted = None if weights is None else round(COPIES[kind] * weights)
    there = free_gpu_memory(device) or 0
    return [Need(f"GPU ({device})", wanted, there, "train adapters, or take a smaller model")]


def named_bytes(model: str, weights: str = "bfloat16") -> int | None:
    """The size of a model by the number in its name; None where it has none."""
    found = BILLIONS.search(Path(model).name)
    width = 2 if weights in ("bfloat16", "float16") else 4
    return round(float(found[1]) * 1e9 * VISION * width) if found else None


def _size(size: int | None) -> str:
    return "?" if size is None else f"{size / 2**30:.1f} GB"
