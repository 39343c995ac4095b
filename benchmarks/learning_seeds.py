"""Train a config with several seeds and test on unseen tasks, to see whether every seed learns.

    make bench-quick-start       `distrl train quick_start`; results/quick-start.json
    make bench-miniwob-reward    `distrl train miniwob`; into results/miniwob.json, as reward_…

Runs come one after the other, alone on the machine; the figures are those of `result.json`, on
tasks that are the same before and after:

    seed_N_before, seed_N_after   success on unseen tasks, with …_low and …_high, 95 %
    seed_N_gain, …_low, …_high    the paired difference and its 95 % interval
    seed_N_training_s, _wall_s    of training alone, and with both evaluations
    seed_N_trajectories, _updates that were collected and made in that time
    seed_N_phones_waiting_share   share of the phones' time since the first update spent waiting
    seed_N_learner_waiting_share  the same for the learner, waiting for trajectories to draw
    seed_N_samples_per_insert     draws for each trajectory since the replay was filled
    before, after, gain           means over seeds, with …_low and …_high, 95 % (Student's t)
    gain_lowest                   the lowest lower bound of any seed's interval
    model, command                what was trained, and how

`--from RUN RUN…` uses existing runs.
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
from benchmarks.results_file import make_command, update_results, write_results
from benchmarks.train_runs import COMMAND, set_words
from distrl.config.sections import AgentSettings


def train(config: str, folder: Path, seed: int) -> Path:
    """Train with a seed and return the directory of the finished run."""
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


def model_of(runs: Sequence[Path]) -> str:
    """Return the name (or folder name) of the model that all runs started from."""
    models = set()
    for run in runs:
        settings = tomllib.loads((run / "config.toml").read_text("utf-8"))
        models.add(Path(settings.get("agent", {}).get("model", AgentSettings().model)).name)
    if len(models) > 1:
        raise SystemExit(f"the runs began with {', '.join(sorted(models))}; give those of one")
    return models.pop()


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
        found, model = dict(figures(runs)), model_of(runs)
    table = Table("figure", "value", box=None)
    for name, value in found.items():
        table.add_row(name, f"{value:.4g}")
    Console().print(table)
    if given.config == "quick_start":
        command = make_command("bench-quick-start", [given.config])
        write_results("quick-start", {**found, "model": model}, command)
    else:
        command = make_command("bench-miniwob-reward", [given.config])
        written: dict[str, float | str] = {**found, "model": model, "command": command}
        update_results(given.config, {f"reward_{name}": n for name, n in written.items()}, "reward")


if __name__ == "__main__":
    main()
