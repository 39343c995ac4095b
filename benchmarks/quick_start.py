"""Does the quick start learn, whatever the seed? `make bench-quick-start` runs it for several.

Each run is `distrl train quick_start`, one after the other, alone on the machine; the figures are
those of its `result.json`, in points of a hundred tasks that are the same before and after:

    seed_N_before, seed_N_after   success on unseen tasks
    seed_N_gain, …_low, …_high    the paired difference and its 95 % interval
    seed_N_training_s, _wall_s    of training alone, and with both evaluations
    gain, gain_lowest             the mean of the gains, and the lowest low end of any seed

`--from RUN RUN…` takes runs that were made before.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.results_file import write_results

TRAIN = [sys.executable, "-c", "from distrl.cli.main import main; main()", "train", "quick_start"]


def train(folder: Path, seed: int) -> Path:
    """The directory of a finished run."""
    within = folder / f"seed-{seed}"
    words = ["--set", f"run.seed={seed}", "--set", f"run.directory={within}"]
    subprocess.run([*TRAIN, *words], check=True)
    [run] = within.iterdir()
    return run


def figures(runs: Sequence[Path]) -> Iterator[tuple[str, float]]:
    gains = []
    for run in runs:
        result: dict[str, Any] = json.loads((run / "result.json").read_text("utf-8"))
        settings = tomllib.loads((run / "config.toml").read_text("utf-8"))
        seed, gain = f"seed_{settings['run'].get('seed', 0)}", result["gain"]
        gains.append(gain)
        yield f"{seed}_before", result["success_before"]["rate"]
        yield f"{seed}_after", result["success_after"]["rate"]
        yield f"{seed}_gain", gain["difference"]
        yield f"{seed}_gain_low", gain["low"]
        yield f"{seed}_gain_high", gain["high"]
        yield f"{seed}_training_s", result["training_s"]
        yield f"{seed}_wall_s", result["wall_s"]
    yield "seeds", len(runs)
    yield "gain", fmean(gain["difference"] for gain in gains)
    yield "gain_lowest", min(gain["low"] for gain in gains)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--from", dest="runs", type=Path, nargs="+", help="runs made before")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        runs = given.runs or [train(Path(temporary), seed) for seed in given.seeds]
        found = dict(figures(runs))
    table = Table("figure", "value", box=None)
    for name, value in found.items():
        table.add_row(name, f"{value:.4g}")
    Console().print(table)
    write_results("quick-start", found)


if __name__ == "__main__":
    main()
