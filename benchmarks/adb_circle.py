"""Compare the quick start with and without adb (`make bench-adb-circle`).

Trains as `make train` does (asynchronous, collectors in processes of their own, A-RIDE, the starter
model) for a number of updates, twice: with simulated phones inside the collectors, and with phones
served by another process (`distrl phone serve`) through a real adb server and our client. Both
models are tested on the same unseen tasks, before and after.

    direct_after, adb_after      success, with _low and _high (95 %, Wilson); _before likewise
    direct_per_min, adb_per_min  trajectories per minute, including the time of the evaluations
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.results_file import write_results
from benchmarks.run_figures import run_figures
from benchmarks.served_phones import adb_server, connected_phones
from distrl.cli.train import new_directory
from distrl.config.training_config import load_config
from distrl.engine.local.local_engine import LocalEngine

CONFIG = Path(__file__).parents[1] / "src/distrl/configs" / "quick_start.toml"
PHONES = 8


def train(name: str, folder: Path, updates: int, more: Sequence[str]) -> dict[str, float]:
    """Train once and return the figures of the run."""
    words = [f"run.updates={updates}", "run.minutes=30", f"run.directory={folder}"]
    config = load_config(CONFIG, [*words, "evaluation.before=48", "evaluation.after=60", *more])
    result = LocalEngine(config, new_directory(config), Console()).train()
    return run_figures(name, result.to_json())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--updates", type=int, default=30)
    chosen = options.parse_args()
    console, figures = Console(), dict[str, float]()
    with tempfile.TemporaryDirectory(prefix="distrl-adb-") as scratch:
        folder = Path(scratch)
        with adb_server() as server, connected_phones(server, PHONES) as serials:
            over_adb = (
                "devices.kind=adb",
                f"devices.serials={','.join(serials)}",
                f"devices.android.adb_port={server.port}",
            )
            figures |= train("adb", folder / "runs", chosen.updates, over_adb)
        write_results("adb-circle", figures)  # kept if the second run fails
        figures |= train("direct", folder / "runs", chosen.updates, ())
    for name, value in figures.items():
        console.print(f"{name:24} {value:g}", highlight=False)
    console.print(write_results("adb-circle", figures))


if __name__ == "__main__":
    main()
