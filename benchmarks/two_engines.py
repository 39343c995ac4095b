"""Compare the local engine with the Ray engine on the same run, to measure Ray's overhead.

Both have our small model and the same phones, which wait as the paper's emulators do. The learner
stores everything and never trains, so that the path from phone to store is compared.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from rich.console import Console

from benchmarks.ray_nodes import ray_nodes
from distrl.cli.train import new_directory
from distrl.config.training_config import TrainingConfig, load_config
from distrl.engine.local.local_engine import LocalEngine
from distrl.json_lines import read_lines
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine

SETTINGS = (
    "devices.count=8", "devices.latency=paper_emulator", "devices.clock=scaled",
    "devices.clock_speed=16", "collection.collectors=2", "collection.heartbeat_seconds=1",
    "pacing.minimum_fill=100000", "replay.capacity=100000", "evaluation.before=0",
    "evaluation.after=0", "run.free_gigabytes=0.1", "reporting.recordings=0",
)  # fmt: skip


def compare_engines(console: Console, minutes: float, rounds: int) -> dict[str, float]:
    """Run both engines in turns, so that other load on the machine affects both."""
    local, ray = list[float](), list[float]()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            local.append(measure_engine(Path(folder), "local", minutes))
            ray.append(measure_engine(Path(folder), "ray", minutes))
            said = f"trajectories/min: {local[-1]:.1f} local, {ray[-1]:.1f} on Ray"
            console.print(said, highlight=False)
    pairs = [of_ray / of_local for of_ray, of_local in zip(ray, local, strict=True)]
    return {
        "local_per_min": sum(local) / rounds,
        "ray_per_min": sum(ray) / rounds,
        "ray_over_local": sum(ray) / sum(local),
        "ray_over_local_lowest": min(pairs),
        "ray_over_local_highest": max(pairs),
    }


def measure_engine(folder: Path, kind: str, minutes: float) -> float:
    """Return a run's trajectories per minute, without its first quarter."""
    overrides = [*SETTINGS, f"run.directory={folder}", f"run.minutes={minutes}"]
    config = load_config(None, [*overrides, f"engine.kind={kind}"])
    if kind == "local":
        run = new_directory(config)
        LocalEngine(config, run, Console(quiet=True)).train()
        return per_minute(run, minutes)
    with ray_nodes(2, config.devices_per_collector):
        return run_on_ray(config)


def run_on_ray(config: TrainingConfig) -> float:
    """Return the same for a run on the existing Ray cluster."""
    from distrl.engine.ray.ray_engine import RayEngine

    run = new_directory(config)
    RayEngine(config, run, Console(quiet=True)).train()
    return per_minute(run, config.run.minutes)


def per_minute(run: RunDirectory, minutes: float) -> float:
    ended = [line.ended for line in read_lines(run.episodes, EpisodeLine)]
    end = 60.0 * minutes
    return sum(end / 4 <= each < end for each in ended) / (minutes * 3 / 4)
