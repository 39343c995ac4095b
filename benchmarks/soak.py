"""Run an hour of training and measure the growth of memory, open files and threads (`make soak`).

A real run (`distrl train`, the starter, two collectors in processes of their own, evaluations and
checkpoints now and then) is left alone, and every few seconds the kernel is asked what each of its
processes holds. Two actions in a hundred meet a fault of the phone (`FAULTS`). The starter is used
because a model whose answers cannot be read never acts, and so never meets a fault. Growth is the
slope of a linear fit through the second half, where replay and caches are full, times the length of
that half; the figure is that of the process that grew most. The start and the last evaluation, when
there are no collectors, are left out.

    rss_growth_mb    private memory (RssAnon), without what is shared or can be read again
    fds_growth       open files and connections
    threads_growth   threads

`--minutes` sets the duration (60), `--keep FOLDER` keeps the run's directory.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from benchmarks.results_file import write_results
from benchmarks.train_runs import start_run
from distrl.json_lines import read_lines
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine

FAULTS = {  # probabilities per action; together 2 %
    "freeze": 0.004,
    "disconnect": 0.004,
    "app_crash": 0.004,
    "black_screen": 0.004,
    "white_screen": 0.004,
}
SETTINGS = {
    "run.name": "soak",
    "run.free_gigabytes": "0.01",
    "run.checkpoint_minutes": "0.5",
    "tasks.templates": "clock.turn_off_alarm,clock.delete_alarm",
    "devices.count": "8",
    **{f"devices.faults.{kind}": share for kind, share in FAULTS.items()},
    "collection.collectors": "2",
    "replay.capacity": "100",
    "agent.policy.cache_megabytes": "256",  # enough for replay, and full within minutes
    "pacing.samples_per_insert": "1",
    "pacing.minimum_fill": "8",
    "pacing.tolerance": "16",
    "learning.learner.batch_trajectories": "4",
    "learning.step.learning_rate": "1e-5",  # with 1e-4 batches so small reduce success in the end
    "learning.learner.updates_per_publish": "1",
    "evaluation.before": "8",
    "evaluation.after": "8",
    "evaluation.every_minutes": "2",
    "evaluation.every_episodes": "8",
    "reporting.line_seconds": "30",
}
SAMPLE_SECONDS = 5.0
MEGABYTE = 1024.0  # in kB, the kernel's unit
GROWTHS = ("rss_growth_mb", "fds_growth", "threads_growth")


@dataclass(frozen=True, slots=True)
class Holding:
    """The resources of a process at one moment."""

    seconds: float  # since the start
    megabytes: float
    files: int
    threads: int


def holding(pid: int, seconds: float) -> Holding:
    """Ask the kernel for a process's resources; `FileNotFoundError` if the process has ended."""
    process = Path(f"/proc/{pid}")
    lines = (line.split(":") for line in (process / "status").read_text().splitlines())
    facts = {name: value.split() for name, value in lines}
    if "RssAnon" not in facts:
        raise FileNotFoundError(f"{process} has ended")
    files = len(list((process / "fd").iterdir()))
    return Holding(seconds, int(facts["RssAnon"][0]) / MEGABYTE, files, int(facts["Threads"][0]))


def processes(learner: int) -> dict[str, int]:
    """Return process ids by name: the learner, its forkserver, and that one's collectors."""

    def found(*words: str) -> list[list[str]]:
        told = subprocess.run(["pgrep", "-l", *words], capture_output=True, text=True, check=False)
        return [line.split(maxsplit=1) for line in told.stdout.splitlines()]

    named = {"learner": learner}
    for server, _ in found("-P", str(learner), "-f", "multiprocessing.forkserver"):
        named["forkserver"] = int(server)
        named |= {name: int(pid) for pid, name in found("-P", server, "collector-")}
    return named


def watch(process: subprocess.Popen[bytes]) -> dict[str, list[Holding]]:
    """Record the resources of every process, every few seconds, until the run ends."""
    held, began = defaultdict(list), time.monotonic()
    while process.poll() is None:
        for name, pid in processes(process.pid).items():
            try:
                held[name].append(holding(pid, time.monotonic() - began))
            except (FileNotFoundError, ProcessLookupError):
                continue
        time.sleep(SAMPLE_SECONDS)
    return dict(held)


def growth(seconds: Sequence[float], values: Sequence[float]) -> float:
    """Return the rise of a linear fit through the second half, from its start to its end."""
    middle = (seconds[0] + seconds[-1]) / 2.0
    late = [(at, value) for at, value in zip(seconds, values, strict=True) if at >= middle]
    at, value = np.array(late).T
    slope, _ = np.polyfit(at - at[0], value, 1)
    return float(slope * (at[-1] - at[0]))


def grown(held: Sequence[Holding]) -> dict[str, float]:
    seconds = [each.seconds for each in held]
    return {
        "rss_growth_mb": growth(seconds, [each.megabytes for each in held]),
        "fds_growth": growth(seconds, [each.files for each in held]),
        "threads_growth": growth(seconds, [each.threads for each in held]),
        "rss_mb": held[-1].megabytes,
        "fds": held[-1].files,
        "threads": held[-1].threads,
    }


def soak(folder: Path, minutes: float) -> dict[str, float]:
    """Measure one run from outside; return its figures."""
    settings = {**SETTINGS, "run.directory": folder / "runs", "run.minutes": minutes}
    process = start_run(settings, folder / "log")
    try:
        held = watch(process)
    finally:
        process.kill()
        process.wait()
    if process.returncode:
        raise SystemExit((folder / "log").read_text("utf-8", "replace")[-2000:])
    [path] = (folder / "runs").iterdir()
    result = json.loads((path / "result.json").read_text("utf-8"))
    return {
        **figures(held),
        "fault_probability": round(sum(FAULTS.values()), 4),
        "faults": faults(RunDirectory(path)),
        "trajectories": result["trajectories"],
        "updates": result["updates"],
    }


def faults(run: RunDirectory) -> int:
    """Count the training episodes that a fault of the phone ended."""
    return sum(not line.judged for line in read_lines(run.episodes, EpisodeLine))


def figures(held: dict[str, list[Holding]]) -> dict[str, float]:
    """Return the largest growth of any process, and the figures of each process."""
    kept = collecting(held)
    grew = {name: grown(each) for name, each in kept.items()}
    worst = {key: max(each[key] for each in grew.values()) for key in GROWTHS}
    each_one = {
        f"{name}_{key}": value for name, each in grew.items() for key, value in each.items()
    }
    minutes = (kept["learner"][-1].seconds - kept["learner"][0].seconds) / 60.0
    return {
        name: round(value, 2) for name, value in {"minutes": minutes, **worst, **each_one}.items()
    }


def collecting(held: dict[str, list[Holding]]) -> dict[str, list[Holding]]:
    """Cut to the time with collectors; a process that ends early has no second half."""
    signs = [
        h.seconds for name, each in held.items() if name.startswith("collector-") for h in each
    ]
    first, last = min(signs) + SAMPLE_SECONDS, max(signs) - 2 * SAMPLE_SECONDS
    cut = {name: [h for h in each if first <= h.seconds <= last] for name, each in held.items()}
    return {name: each for name, each in cut.items() if len(each) > 0.8 * len(cut["learner"])}


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--minutes", type=float, default=60.0)
    words.add_argument("--keep", type=Path)
    chosen = words.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no run is left behind
    console = Console()
    with tempfile.TemporaryDirectory(prefix="distrl-soak-") as scratch:
        folder = chosen.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found = soak(folder, chosen.minutes)
    for name, value in found.items():
        console.print(f"{name:32} {value:g}", highlight=False)
    if not found["faults"]:
        raise SystemExit("no phone had a fault: nothing was tried that this is about")
    if chosen.minutes >= 30.0:
        command = f'make soak ARGS="--minutes {chosen.minutes:g}"'
        console.print(write_results("soak", found, command))


if __name__ == "__main__":
    main()
