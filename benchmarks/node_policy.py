"""Compare one policy for all collectors of a node with one for each: memory and throughput.

Runs the same settings twice on one Ray node with four collectors: once with a policy in each of
them, once with `engine.policy=node`. Memory is the proportional set size (PSS) of collectors and
policy server together, two thirds into the run.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
from pathlib import Path

from benchmarks.ray_nodes import ray_nodes
from benchmarks.two_engines import SETTINGS, run_on_ray
from distrl.config.training_config import load_config

COLLECTORS, PHONES = 4, 8
DECIDING = (b"ray::RayCollector", b"ray::policy server")
MEGABYTE = 1024.0  # in kB, the kernel's unit


def measure_node_policy(minutes: float) -> dict[str, float]:
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for policy in ("collector", "node"):
            rate, megabytes = _measure(Path(folder), policy, minutes)
            figures[f"policy_per_{policy}_per_min"] = rate
            figures[f"policy_per_{policy}_mb"] = megabytes
    speed = figures["policy_per_node_per_min"] / figures["policy_per_collector_per_min"]
    memory = figures["policy_per_node_mb"] / figures["policy_per_collector_mb"]
    return figures | {"policy_per_node_speed": speed, "policy_per_node_memory": memory}


def _measure(folder: Path, policy: str, minutes: float) -> tuple[float, float]:
    own = (
        f"run.directory={folder}",
        f"run.minutes={minutes}",
        f"collection.collectors={COLLECTORS}",
        "engine.kind=ray",
        f"engine.policy={policy}",
    )
    config = load_config(None, [*SETTINGS, *own])
    seen: list[float] = []
    look = threading.Timer(60.0 * minutes * 2 / 3, lambda: seen.append(deciding_megabytes()))
    with ray_nodes(1, PHONES):
        look.start()
        try:
            rate = run_on_ray(config)
        finally:
            look.cancel()
    return rate, seen[0]


def deciding_megabytes() -> float:
    """Return the memory of all processes that play or decide."""
    total = 0.0
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit() and (process / "cmdline").read_bytes().startswith(DECIDING):
                lines = (process / "smaps_rollup").read_text().splitlines()
                total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / MEGABYTE
