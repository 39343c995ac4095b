"""Estimate a run's memory and disk before it starts: what `distrl train --dry-run` prints.

The estimate errs upwards. It uses the settings and the size of the model, by its files or its name
(`model_size`). A process with torch, transformers and a phone was measured at 420 MB, a further
phone at 3 MB; an emulator counts as in docs/real-phones.md. The learner keeps weights, gradients
and two AdamW moments in the dtype `agent.policy.weights`; with adapters, those of a few per cent of
the weights. On a GPU these are in its memory (`gpu_estimate`), but each process first reads the
model into main memory.
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from distrl.agent.torch_device import free_gpu_memory
from distrl.config.toml_writer import to_toml
from distrl.config.training_config import TrainingConfig
from distrl.reporting.gpu_estimate import ADAPTER_SHARE, TRAINED_COPIES, estimate_gpu_memory
from distrl.reporting.model_size import WIDTHS, trains_adapters, weight_count

PROCESS_BYTES = 420 * 2**20
DEVICE_BYTES = 3 * 2**20
EMULATOR_BYTES = 4 * 2**30
PLACE_BYTES = 60  # the replay's trees and arrays, per slot of the ring buffer
KEPT_COPIES = 4  # of checkpoints, the unfinished one included; published weights are a fraction


def estimate_memory(config: TrainingConfig) -> dict[str, int]:
    """Return bytes by purpose; a model whose size is not known counts as 0."""
    held = _weight_bytes(config)
    on_gpu = config.agent.policy.device.startswith("cuda")
    in_one = config.collection.mode == "one_process"
    processes = 1 if in_one else 1 + config.collector_count
    policies = 1 + config.collector_count if config.environments else processes
    if config.one_policy_per_node:
        processes, policies = processes + 1, 2  # the learner's, and that of the policy process
    parts = {
        f"{processes} process{'es' if processes > 1 else ''}": processes * PROCESS_BYTES,
        **dict(map(_devices, config.by_environment().values())),
        "replay, when full": config.replay.byte_limit + PLACE_BYTES * config.replay.capacity,
        f"{policies} copies of the model": policies * held,
        "gradients and optimiser": 0 if on_gpu else TRAINED_COPIES * _trained(config, held),
    }
    return {name: size for name, size in parts.items() if size}


def _devices(config: TrainingConfig) -> tuple[str, int]:
    """Return a label for the devices of an environment, and their bytes."""
    devices = config.devices
    count = devices.count + devices.spares
    each = {"simulated": DEVICE_BYTES, "emulator": EMULATOR_BYTES}.get(devices.kind, 0)
    what = "emulators" if devices.kind == "emulator" else "phones"
    where = f" of {config.environment}" if config.environment else ""
    return f"{count} {what}{where}", count * each


def estimate_disk(config: TrainingConfig) -> int:
    """Return the bytes that a run may write: trajectories, checkpoints, published weights."""
    trained = _trained(config, _weight_bytes(config))
    return config.store.byte_limit + KEPT_COPIES * (1 + TRAINED_COPIES) * trained


def estimate_joined_disk(config: TrainingConfig, waiting: int, *, own_policy: bool) -> int:
    """Return the bytes that a joined collector may keep: `waiting` trajectories, and weights."""
    published = _trained(config, _weight_bytes(config))
    return waiting + (KEPT_COPIES * published if own_policy else 0)


def show_dry_run(console: Console, config: TrainingConfig) -> None:
    """Print the resolved settings, and the memory and disk that a run with them would need."""
    console.print(to_toml(config), highlight=False, markup=False, soft_wrap=True)
    parts = estimate_memory(config)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    for name, size in parts.items():
        table.add_row(name, gigabytes(size))
    table.add_row("[bold]memory at most[/]", f"[bold]{gigabytes(sum(parts.values()))}[/]")
    table.add_row("disk for trajectories at most", gigabytes(config.store.byte_limit))
    free = free_gpu_memory(config.agent.policy.device)
    if on_gpu := sum(estimate_gpu_memory(config, free).values()):
        table.add_row(f"on {config.agent.policy.device} at least", gigabytes(on_gpu))
    console.print(table, highlight=False)
    if weight_count(config.agent.model) is None:
        console.print(f"(without the weights of {config.agent.model!r}: their size is not known)")


def _weight_bytes(config: TrainingConfig) -> int:
    """Return the bytes of the model in one process; 0 if its size is not known."""
    policy = config.agent.policy
    return (weight_count(config.agent.model) or 0) * WIDTHS.get(policy.weights, 4)


def _trained(config: TrainingConfig, weights: int) -> int:
    """Return the bytes of the weights that are trained."""
    return round(ADAPTER_SHARE * weights) if trains_adapters(config) else weights


def gigabytes(size: int) -> str:
    return f"{size / 2**30:.2f} GB"
