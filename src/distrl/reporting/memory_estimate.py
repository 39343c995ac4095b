"""How much memory a run will want, before it starts: what `distrl train --dry-run` says.

An estimate that errs upwards, from the settings and the size of the model's files. A process with
torch, transformers and a phone in it was measured at 420 MB, a further phone at 3 MB. The learner
keeps weights, gradients and two moments of AdamW in float32; with adapters those of a few per cent.
"""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from distrl.config.toml_writer import to_toml
from distrl.config.training_config import TrainingConfig

PROCESS_BYTES = 420 * 2**20
DEVICE_BYTES = 3 * 2**20
PLACE_BYTES = 60  # the replay's trees and arrays, for each place of the ring
TRAINED_COPIES = 3  # gradients and two moments, beside the weights
KEPT_COPIES = 4  # of checkpoints, the unfinished one included; published weights are a fraction
ADAPTER_SHARE = 0.03  # of the weights: generous for the ranks that people use


def estimate_memory(config: TrainingConfig) -> dict[str, int]:
    """Bytes by what they are for; without those of a model whose size is not known."""
    known = model_bytes(Path(config.agent.model)) or 0
    trained = known if config.agent.policy.lora is None else round(ADAPTER_SHARE * known)
    collectors = config.collection.collectors
    processes = 1 if config.collection.mode == "one_process" else 1 + collectors
    policies = processes
    if config.one_policy_per_node:
        processes, policies = processes + 1, 2  # the learner's, and that of the policy process
    phones = config.devices.count + config.devices.spares
    simulated = config.devices.kind == "simulated"
    parts = {
        f"{processes} process{'es' if processes > 1 else ''}": processes * PROCESS_BYTES,
        f"{phones} phones": phones * DEVICE_BYTES if simulated else 0,
        "replay, when full": config.replay.byte_limit + PLACE_BYTES * config.replay.capacity,
        f"{policies} copies of the model": policies * known,
        "gradients and optimiser": TRAINED_COPIES * trained,
    }
    return {name: size for name, size in parts.items() if size}


def estimate_gpu_memory(config: TrainingConfig) -> int:
    """Bytes that the learner needs on its GPU at least: weights, gradients, optimiser.

    Without activations and other processes' copies; 0 where the model's size is not known.
    """
    from distrl.agent.model_directory import saved_type

    saved = model_bytes(folder := Path(config.agent.model))
    if saved is None:
        return 0
    widths = {"bfloat16": 2, "float16": 2}  # bytes; others have 4
    numbers = saved // widths.get(saved_type(folder), 4)
    weights = numbers * widths.get(config.agent.policy.weights, 4)
    trained = weights if config.agent.policy.lora is None else 0
    return weights + TRAINED_COPIES * trained


def estimate_disk(config: TrainingConfig) -> int:
    """Bytes that a run may write: trajectories, checkpoints, and published weights."""
    known = model_bytes(Path(config.agent.model)) or 0
    trained = known if config.agent.policy.lora is None else round(ADAPTER_SHARE * known)
    return config.store.byte_limit + KEPT_COPIES * (1 + TRAINED_COPIES) * trained


def model_bytes(folder: Path) -> int | None:
    """The size of a model's weights; None where it is no directory of them."""
    sizes = [file.stat().st_size for file in folder.glob("*.safetensors")]
    return sum(sizes) or None


def show_dry_run(console: Console, config: TrainingConfig) -> None:
    """The resolved settings, and what they would take."""
    console.print(to_toml(config), highlight=False, markup=False, soft_wrap=True)
    parts = estimate_memory(config)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    for name, size in parts.items():
        table.add_row(name, gigabytes(size))
    table.add_row("[bold]memory at most[/]", f"[bold]{gigabytes(sum(parts.values()))}[/]")
    table.add_row("disk for trajectories at most", gigabytes(config.store.byte_limit))
    console.print(table, highlight=False)
    if model_bytes(Path(config.agent.model)) is None:
        console.print(f"(without the weights of {config.agent.model!r}: their size is not known)")


def gigabytes(size: int) -> str:
    return f"{size / 2**30:.2f} GB"
