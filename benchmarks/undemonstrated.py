"""Train on undemonstrated templates with reward alone: `make bench-undemonstrated` (a GPU machine).

`distrl train undemonstrated` for three seeds: all templates that the starter was never shown, of
both families. Then `distrl evaluate RUN` plays the templates that it was shown, to measure
forgetting (the split `test`, the same tasks for the starter and for every run). All evaluations are
sampled, as in training, on parameters, instructions and phones never seen.

    before, after               success on undemonstrated templates: the starter, after training
    known_before, known_after   the same on demonstrated ones
    gain, known_change          the differences
    minutes, gpu_minutes        of training, and of those on a GPU; evaluations before and during
                                training are played beside it
    seed_N_…                    each of these of one run
    seeds, known_seeds          how many runs there are, and of how many forgetting was measured

with `_low` and `_high`, 95 %: of the starter and of the gain of one run over tasks, of the rest
over seeds (Student's t). Each run has a folder in `--keep`; a finished run is not made again, and
an interrupted one is started again from the beginning. `--at-once 3` runs seeds side by side: they
share the GPU and the cores, and `gpu_minutes` counts each run's minutes in full. `--report` only
reads; `--from RUN RUN…` uses existing runs.

`--two-cores` asks the same question on a laptop: 20 minutes on two cores without a GPU, with as
many phones and as large batches as these can handle (`TWO_CORES`). One run at a time, or the seeds
share the cores.

`--start FILE` does something else: from the output of `distrl evaluate starter --split
undemonstrated_test --sampled --json FILE` it keeps the success of each template, in
undemonstrated-start.json.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.paper_figures import spread
from benchmarks.paper_runs import result_of
from benchmarks.results_file import make_command, write_results
from benchmarks.starter import EVALUATE
from benchmarks.train_runs import start_run

CONFIG, STARTER = "undemonstrated", "starter"
TWO_CORES: dict[str, object] = {  # replaces some of the config, with `quick_start`'s settings
    "run.minutes": 20.0,
    "devices.count": 8,
    "agent.policy.device": "cpu",
    "agent.policy.cache_megabytes": 2000,
    "collection.collectors": 1,
    "engine.policy": "collector",
    "replay.capacity": 300,
    "pacing.samples_per_insert": 6.0,
    "pacing.minimum_fill": 48,
    "learning.threads": 1,
    "learning.learner.batch_trajectories": 16,
    "learning.learner.updates_per_publish": 1,
    "learning.learner.warm_up_updates": 10,
    "learning.learner.staleness.at_start": 24,
    "learning.learner.staleness.at_arrival": 96,
    "learning.step.learning_rate": 1e-4,
    "learning.step.micro_batch_turns": 32,
    "evaluation.before": 205,
    "evaluation.after": 205,
    "evaluation.every_minutes": 10.0,
    "evaluation.every_episodes": 82,
}
INTERVAL = {"rate": "", "low": "_low", "high": "_high"}  # keys of a result; suffixes of our figures
KNOWN_INTERVAL = {"success": "", "low": "_low", "high": "_high"}


def train(seed: int, given: argparse.Namespace) -> Path | None:
    """Return the directory of a seed's run, trained now if it is missing; None if it failed."""
    folder: Path = given.keep / f"seed-{seed}"
    if result_of(folder) is None and not given.report:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        settings: dict[str, object] = {
            "run.seed": seed,
            "run.directory": folder,
            **(TWO_CORES if given.two_cores else {"agent.policy.device": given.device}),
            **({} if given.minutes is None else {"run.minutes": given.minutes}),
            **dict(word.split("=", 1) for word in given.set),
        }
        code = start_run(settings, folder / "log", CONFIG).wait()
        print(f"{folder}: {'done' if code == 0 else f'ended with {code}, see its log'}", flush=True)
    return result_of(folder)


def known(name: str, model: str, given: argparse.Namespace) -> dict[str, Any] | None:
    """Return a model's success on the demonstrated templates; None if it was not measured."""
    path: Path = given.keep / f"known-{name}.json"
    if not path.exists() and not given.report:
        words = [model, "--split", "test", "--sampled", "--episodes", str(given.episodes)]
        words += ["--device", given.device, "--json", str(path)]
        subprocess.run([*EVALUATE, *words], check=True)
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def keep_start(file: Path) -> None:
    """Write the starter's success on each template before training."""
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    rates = {name: each["success"] for name, each in found["by_template"].items()}
    figures = {name: round(rates[name], 4) for name in sorted(rates)}
    episodes = {"episodes": found["episodes"]}
    write_results("undemonstrated-start", figures | episodes, make_command("bench-undemonstrated"))


def read_result(run: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((run / "result.json").read_text("utf-8"))
    return result


def figures_of(
    results: Sequence[Mapping[str, Any]],  # of runs
    known_before: Mapping[str, Any],  # of the starter
    known_after: Sequence[Mapping[str, Any] | None],  # of runs; None: not measured
    *,
    on_gpu: bool,
) -> dict[str, float]:
    """Return the figures of the starter, of all runs together, and of each."""
    first = results[0]["success_before"]
    figures = {
        "seeds": float(len(results)),
        **{f"before{end}": first[name] for name, end in INTERVAL.items()},
        **{f"known_before{end}": known_before[name] for name, end in KNOWN_INTERVAL.items()},
    }
    runs: list[dict[str, float]] = []
    for result, after in zip(results, known_after, strict=True):
        minutes, gain = result["training_s"] / 60.0, result["gain"]
        run = {
            "after": result["success_after"]["rate"],
            "gain": gain["difference"],
            "minutes": minutes,
            "gpu_minutes": minutes if on_gpu else 0.0,
        }
        if after is not None:
            run["known_after"] = after["success"]
            run["known_change"] = after["success"] - known_before["success"]
        runs.append(run)
        tasks = {"gain_low": gain["low"], "gain_high": gain["high"]}  # of one run, over tasks
        figures |= {f"seed_{result['seed']}_{name}": value for name, value in (run | tasks).items()}
    for name in runs[0] | runs[-1]:
        figures |= spread(name, [run[name] for run in runs if name in run])
    return figures | {"known_seeds": float(sum(after is not None for after in known_after))}


def main() -> None:
    given = arguments()
    if given.start is not None:
        keep_start(given.start)
        return
    given.keep.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(given.at_once) as side_by_side:
        seeds = () if given.runs else given.seeds
        trained = side_by_side.map(lambda seed: train(seed, given), seeds)
        runs = given.runs or [run for run in trained if run is not None]
        results = {run: read_result(run) for run in runs}
        models = {STARTER: STARTER} | {f"{run.parent.name}-{run.name}": str(run) for run in results}
        before, *tested = side_by_side.map(lambda name: known(name, models[name], given), models)
    after = dict(zip(results, tested, strict=True))
    if before is None or not results:
        raise SystemExit(f"{given.keep} has no complete run yet; leave --report out to make them")
    found = figures_of(
        list(results.values()), before, list(after.values()), on_gpu=given.device != "cpu"
    )
    rounded = {name: round(value, 4) for name, value in found.items()}
    print(json.dumps(rounded, indent=2))
    if given.two_cores or given.device != "cpu":  # else it is only a trial
        write_results("undemonstrated", rounded, make_command("bench-undemonstrated"))


def arguments() -> argparse.Namespace:
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    words.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    words.add_argument("--minutes", type=float, help="of training, if not those of the config")
    words.add_argument("--episodes", type=int, default=434, help="two of each known template")
    words.add_argument("--at-once", type=int, default=1, help="runs side by side")
    words.add_argument("--start", type=Path, help="an evaluation of the starter, by template")
    words.add_argument("--two-cores", action="store_true", help="20 minutes without a GPU")
    two_cores = "--two-cores" in sys.argv  # it has another default
    words.add_argument("--device", default="cpu" if two_cores else "cuda")
    words.add_argument("--keep", type=Path, default=Path("runs/undemonstrated"))
    words.add_argument("--set", action="append", default=[], help="a setting of all runs, a.b=c")
    words.add_argument("--from", dest="runs", type=Path, nargs="+", help="runs made before")
    words.add_argument("--report", action="store_true", help="run nothing")
    return words.parse_args()


if __name__ == "__main__":
    main()
