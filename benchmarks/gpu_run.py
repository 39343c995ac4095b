"""Measure a whole run whose phones, policy process and learner share a GPU, to find its bottleneck.

A real `distrl train` of the starter on all training templates (both families), with the policy in a
process of its own that decides for all phones. Rates and shares are measured after the warm-up: the
learner's first `WARM_UP_UPDATES` updates, or a quarter of all if there are few.

    gpu_run_decisions_per_s       of the policy process, for all phones
    gpu_run_trained_turns_per_s   turns in the learner's batches
    gpu_run_phone_share_STAGE     of the phones' time: act and reset are work, the rest are waits
    gpu_run_learner_share_STAGE   of the learner's time; wait: for trajectories, and all else

`--device cpu` with few phones is a smoke test, whose figures begin with `cpu_run`. `--set` changes
any setting of the run, `--keep FOLDER` keeps the run's directory, `--out FILE` also writes the
figures there, with command, date and the name of the GPU. On a machine without a GPU `--gpu-from
FILE` takes such a file over.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.results_file import RESULTS, make_command, write_figures, write_results
from benchmarks.train_runs import COMMAND, set_words
from distrl.process_environment import for_forkserver
from distrl.runs.metrics import read_points
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import Point

WARM_UP_UPDATES = 20
SETTINGS = {
    "run.name": "gpu_run",
    "tasks.families": '["general", "shopping"]',
    "agent.policy.cache_megabytes": "24000",
    "replay.capacity": "8000",
    "pacing.samples_per_insert": "2",
    "pacing.minimum_fill": "128",
    "learning.learner.batch_trajectories": "64",
    "learning.learner.refresh_trajectories": "0",
    "learning.learner.updates_per_publish": "4",
    "learning.learner.staleness.at_start": "64",
    "learning.learner.staleness.at_arrival": "256",
    "learning.step.micro_batch_turns": "512",
    "evaluation.before": "0",
    "evaluation.after": "0",
    "reporting.line_seconds": "10",
}


def train(folder: Path, settings: Sequence[str], timeout: float) -> RunDirectory:
    """Run `distrl train` to its end with its output shown; return its directory."""
    words = [*COMMAND, *settings, "--set", f"run.directory={folder}"]
    subprocess.run(words, env=for_forkserver(os.environ), check=True, timeout=timeout)
    [run] = folder.iterdir()
    return RunDirectory(run)


def figures_of(points: Sequence[Point], name: str) -> dict[str, float]:
    """Return rates and shares between the end of the warm-up and the last collection point."""
    learned = [point for point in points if point.series == "learner"]
    warm = learned[: min(WARM_UP_UPDATES, len(learned) // 4) + 1]
    begun = warm[-1].seconds if warm else float("inf")
    sampled = [each for each in points if each.series == "collection" and each.seconds >= begun]
    if len(sampled) < 2:
        raise SystemExit(f"{len(learned)} updates and the run was over; give it more --minutes")
    first, last = sampled[0], sampled[-1]
    seconds = max(1e-9, last.seconds - first.seconds)
    steps = [point for point in learned if first.seconds < point.seconds <= last.seconds]

    def gained(figure: str) -> float:
        return (last.figures.get(figure) or 0.0) - (first.figures.get(figure) or 0.0)

    def spent(stage: str) -> float:
        return sum(point.figures.get(stage) or 0.0 for point in steps) / seconds

    stages = [each for each in last.figures if each.startswith("seconds/")]
    phones = {each: gained(each) for each in stages}
    phone_seconds = max(1e-9, sum(phones.values()))
    learner = {each: spent(each) for each in learned[-1].figures if each.startswith("seconds/")}
    return {
        f"{name}_decisions_per_s": gained("decisions") / seconds,
        f"{name}_trained_turns_per_s": spent("turns"),
        f"{name}_trajectories_per_s": gained("trajectories") / seconds,
        f"{name}_updates_per_s": len(steps) / seconds,
        f"{name}_seconds": seconds,
        f"{name}_deciding_share": gained("deciding_seconds") / seconds,
        **{
            f"{name}_phone_share_{stage.removeprefix('seconds/')}": each / phone_seconds
            for stage, each in phones.items()
        },
        **{
            f"{name}_learner_share_{stage.removeprefix('seconds/')}": each
            for stage, each in learner.items()
        },
        f"{name}_learner_share_wait": 1.0 - sum(learner.values()),
    }


def show(figures: dict[str, float]) -> None:
    table = Table("figure", "value")
    for name, figure in figures.items():
        table.add_row(name, f"{figure:,.4g}")
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--phones", type=int, default=256)
    parser.add_argument("--collectors", type=int, default=12)
    parser.add_argument("--set", action="append", default=[], help="a setting of the run, a.b=c")
    parser.add_argument("--keep", type=Path, help="a new folder for the run")
    parser.add_argument("--out", type=Path, help="a file for the figures as well")
    parser.add_argument("--gpu-from", type=Path, help="take the figures of such a file")
    given = parser.parse_args()
    if given.gpu_from is not None:
        take_over(given.gpu_from, RESULTS / "gpu-run.json")
        return
    settings = SETTINGS | {
        "agent.policy.device": given.device,
        "engine.policy": "node",
        "run.minutes": given.minutes,
        "devices.count": given.phones,
        "collection.collectors": given.collectors,
    }
    words = set_words(settings) + [word for each in given.set for word in ("--set", each)]
    with tempfile.TemporaryDirectory() as folder:
        run = train(given.keep or Path(folder), words, 60.0 * given.minutes + 600.0)
        name = "gpu_run" if given.device.startswith("cuda") else "cpu_run"
        figures = figures_of(read_points(run.metrics), name)
    figures |= {f"{name}_phones": given.phones, f"{name}_collectors": given.collectors}
    show(figures)
    written, command = figures | gpu_words(given.device), make_command("bench-gpu-run")
    if given.out is not None:
        write_figures(given.out, written, command)
    if name == "gpu_run":  # the CPU smoke test writes no results
        write_results("gpu-run", written, command)


def gpu_words(device: str) -> dict[str, str]:
    """Return the name of the GPU and the PyTorch version; empty for a CPU."""
    if not device.startswith("cuda"):
        return {}
    import torch

    return {"gpu": torch.cuda.get_device_name(device), "torch": torch.__version__}


def take_over(file: Path, results: Path) -> None:
    """Make a file of figures the results, if it has its command, date and GPU."""
    text = file.read_text("utf-8")
    if missing := sorted({"command", "date", "gpu"} - json.loads(text).keys()):
        raise SystemExit(f"{file.name} has no {', '.join(missing)}; write it with --out on a GPU")
    results.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
