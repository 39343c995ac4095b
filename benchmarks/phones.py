"""Measure how many phones one machine can run (`make bench-phones`).

A real run (`distrl train`, a tiny model, four collectors, simulated phones on the virtual clock)
for each number of phones, measured from outside until every phone is in an episode and for some
seconds after that:

    phones_N_gb            memory of all its processes together (proportional set size): memory
                           shared between them counts once
    phones_N_threads       threads of all its processes
    phones_N_steps_per_s   decisions per second once every phone plays, while the learner trains
    phones_N_ready_s       until every phone plays
    phones_N_stop_s        from Ctrl-C to the end of the command, which must be orderly

`--counts` gives the numbers of phones (100 1000 10000). A run that would take more than `--max-gb`
is ended and reported as such.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.results_file import update_results
from benchmarks.train_runs import start_run, tiny_model

SETTINGS = {
    "run.name": "phones",
    "run.minutes": "120",
    "run.free_gigabytes": "0.01",
    "agent.policy.sampling.max_new_tokens": "3",
    "collection.collectors": "4",
    "replay.capacity": "200",
    "pacing.samples_per_insert": "0.05",
    "pacing.tolerance": "1e6",
    "evaluation.before": "0",
    "evaluation.after": "0",
    "reporting.line_seconds": "5",
}
SECONDS = 20.0  # during which steps are counted
POLL_SECONDS = 2.0
GIGABYTE = 2.0**20  # in kB, the kernel's unit


def children(pid: int) -> Iterator[int]:
    """Yield the process and all its descendants."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from children(int(child))


def memory_and_threads(pid: int) -> tuple[float, int]:
    """Return the gigabytes and threads of a process and its descendants now."""
    kilobytes, threads = 0, 0
    for each in children(pid):
        try:
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
            kilobytes += sum(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
            threads += len(list(Path(f"/proc/{each}/task").iterdir()))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return kilobytes / GIGABYTE, threads


def recorded(run: Path) -> tuple[float, float, float]:
    """Return seconds, episodes in flight and decisions so far, at the run's last point."""
    last = 0.0, 0.0, 0.0
    for path in run.glob("*/metrics.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            point = json.loads(line)
            if point["series"] == "collection":
                figures = point["figures"]
                last = point["seconds"], figures["in_flight"], figures["decisions"]
    return last


def measure(phones: int, folder: Path, max_gb: float, limit_s: float) -> dict[str, float]:
    """Measure one run with that many phones."""
    places = {"agent.model": tiny_model(folder), "run.directory": folder / "runs"}
    settings = {**SETTINGS, **places, "devices.count": phones}
    process = start_run(settings, folder / "log")
    try:
        found = watch(process, folder / "runs", phones, max_gb, limit_s)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        code = process.wait(120.0)
        found["stop_s"] = time.monotonic() - begun
    finally:
        process.kill()
        process.wait()
    if code not in (0, 130):
        raise SystemExit((folder / "log").read_text("utf-8", "replace")[-2000:])
    return {f"phones_{phones}_{name}": round(value, 2) for name, value in found.items()}


def watch(
    process: subprocess.Popen[bytes], run: Path, phones: int, max_gb: float, limit_s: float
) -> dict[str, float]:
    """Record the run's peak memory and threads, and its speed once (almost) every phone plays."""
    begun, gigabytes, threads = time.monotonic(), 0.0, 0
    first: tuple[float, float, float] | None = None
    while process.poll() is None and time.monotonic() - begun < limit_s:
        time.sleep(POLL_SECONDS)
        now, threads = memory_and_threads(process.pid)
        gigabytes = max(gigabytes, now)
        if now > max_gb:
            raise SystemExit(f"{phones} phones take {now:.1f} GB, and --max-gb is {max_gb:g}")
        seconds, in_flight, decisions = recorded(run)
        if first is None and in_flight >= 0.97 * phones:  # the others are between episodes
            first, ready = (seconds, in_flight, decisions), time.monotonic() - begun
        if first is not None and seconds - first[0] >= SECONDS:
            rate = (decisions - first[2]) / (seconds - first[0])
            return {"gb": gigabytes, "threads": threads, "steps_per_s": rate, "ready_s": ready}
    raise SystemExit(f"{phones} phones did not all play within {limit_s:g} s")


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--counts", type=int, nargs="+", default=[100, 1000, 10_000])
    words.add_argument("--max-gb", type=float, default=14.0)
    words.add_argument("--limit-s", type=float, default=3600.0)
    chosen = words.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no run is left behind
    figures: dict[str, float] = {}
    for phones in chosen.counts:
        with tempfile.TemporaryDirectory(prefix="distrl-phones-") as folder:
            figures |= measure(phones, Path(folder), chosen.max_gb, chosen.limit_s)
        update_results("phones", figures, f"phones_{phones}")
    table = Table("figure", "value", box=None, padding=(0, 2, 0, 0))
    for name, value in figures.items():
        table.add_row(name, f"{value:g}")
    Console().print(table, highlight=False)


if __name__ == "__main__":
    main()
