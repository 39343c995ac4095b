"""Does a config learn, whatever the seed? Its run for several seeds, on tasks never trained on.

    make bench-quick-start       `distrl train quick_start`; results/quick-start.json
    make bench-miniwob-reward    `distrl train miniwob`; into results/miniwob.json, as reward_…

Runs come one after the other, alone on the machine; the figures are those of `result.json`, on
tasks that are the same before and after:

    seed_N_before, seed_N_after   success on unseen tasks, with …_low and …_high, 95 %
    seed_N_gain, …_low, …_high    the paired difference and its 95 % interval
    seed_N_training_s, _wall_s    of training alone, and with both evaluations
    seed_N_trajectories, _updates how many were collected, and learned
    seed_N_phones_waiting_share   of the phones' time since the first update, kept from playing
    seed_N_learner_waiting_share  of the learner's time since then, without trajectories to draw
    seed_N_samples_per_insert     draws for each trajectory since the replay was filled
    before, after, gain           means over seeds, with …_low and …_high, 95 % (Student's t)
    gain_lowest                   the lowest low end of any seed

`--from RUN RUN…` takes runs that were made before.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.paper_figures import spread
from benchmarks.results_file import update_results, write_results
from benchmarks.train_runs import COMMAND, set_words


def train(config: str, folder: Path, seed: int) -> Path:
    """The directory of a finished run."""
    within = folder / f"seed-{seed}"
    settings = {"run.seed": seed, "run.directory": within}
    subprocess.run([*COMMAND, config, *set_words(settings)], check=True)
    [run] = within.iterdir()
    return run


def figures(runs: Sequence[Path]) -> Iterator[tuple[str, float]]:
    rates: dict[str, list[float]] = {"before": [], "after": [], "gain": []}
    lows = []
    for run in runs:
        result: dict[str, Any] = json.loads((run / "result.json").read_text("utf-8"))
        settings = tomllib.loads((run / "config.toml").read_text("utf-8"))
        seed, gain = f"seed_{settings['run'].get('seed', 0)}", result["gain"]
        lows.append(gain["low"])
        for stage in ("before", "after"):
            success = result[f"success_{stage}"]
            rates[stage].append(success["rate"])
            yield f"{seed}_{stage}", success["rate"]
            yield f"{seed}_{stage}_low", success["low"]
            yield f"{seed}_{stage}_high", success["high"]
        rates["gain"].append(gain["difference"])
        yield f"{seed}_gain", gain["difference"]
        yield f"{seed}_gain_low", gain["low"]
        yield f"{seed}_gain_high", gain["high"]
        yield f"{seed}_training_s", result["training_s"]
        yield f"{seed}_wall_s", result["wall_s"]
        yield f"{seed}_trajectories", result["trajectories"]
        yield f"{seed}_updates", result["updates"]
        yield f"{seed}_phones_waiting_share", result["phones_waiting_share"]
        yield f"{seed}_learner_waiting_share", result["learner_time"].get("waiting", 0.0)
        yield f"{seed}_samples_per_insert", result["samples_per_insert"]
    yield "seeds", len(runs)
    for name, of_seeds in rates.items():
        yield from spread(name, of_seeds).items()
    yield "gain_lowest", min(lows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", choices=("quick_start", "miniwob"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--from", dest="runs", type=Path, nargs="+", help="runs made before")
    parser.add_argument("--keep", type=Path, help="a folder for the runs, to be looked at")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        runs = given.runs or [train(given.config, folder, seed) for seed in given.seeds]
        found = dict(figures(runs))
    table = Table("figure", "value", box=None)
    for name, value in found.items():
        table.add_row(name, f"{value:.4g}")
    Console().print(table)
    if given.config == "quick_start":
        write_results("quick-start", found)
    else:
        update_results(given.config, {f"reward_{name}": n for name, n in found.items()}, "reward")


if __name__ == "__main__":
    main()
