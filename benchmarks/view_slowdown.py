"""Measure how much watching slows a run: a part of `make bench-view`, in a process of its own.

A collector of 8 phones with our starter plays alternately with and without a reader of the wall,
under a run's conditions: in the environment that a run gives it (`for_forkserver`), with one
thread, beside a server with its low priority. Its episodes are recorded as a run's learner does, so
that the server has something new to read. CPU time is measured, since other load on the machine
distorts wall time; which half of a pair comes first alternates.

    training_slowdown                 of collector and server together, per decision: watched
                                      against unwatched, minus 1; the median of the pairs, and how
                                      far they spread
    training_slowdown_collector       the same, of the collector alone
    training_slowdown_server          what the server takes while watched, in shares of what the
                                      collector needs unwatched
    training_half_s                   wall time of a half of a pair; the median
    training_mean_batch_alone,        decisions per batch: where they differ, so does the cost of
    training_mean_batch_watched       one decision
    browser_cpu_share                 of a core that Chromium needs to show those phones; the
                                      machine that looks pays it, which need not be the one that
                                      trains
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.many_episodes import write_many_episodes
from distrl.json_lines import LineLog
from distrl.process_environment import for_forkserver
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine, Point
from distrl.view.resources import Resources
from distrl.view.run_catalogue import RunCatalogue
from distrl.view.server import Address, serve

if TYPE_CHECKING:
    from distrl.episodes.collector import Collector
    from distrl.records import Trajectory
    from phonesim.simulated_device import SimulatedDevice

PHONES, EPISODES_BEFORE = 8, 2000
TEMPLATES = ("shopping.search", "shopping.sort")
READER = Path(__file__).with_name("wall_reader.py")
FIRST_SECONDS = 60.0  # until the reader must have seen phones
Figures = dict[str, float]


# The server in a process of its own ---------------------------------------------------------------


def _serve(path: Path, ready: Connection) -> None:
    serve(Resources(RunCatalogue.at(path)), Address(), lambda address: ready.send(address.port))


@contextlib.contextmanager
def server(path: Path) -> Iterator[tuple[int, int]]:
    """Run the server in a process of its own; yield its port and process id."""
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_serve, args=(path, theirs))  # it may start a scorer
    process.start()
    assert process.pid is not None
    try:
        yield ours.recv(), process.pid
    finally:
        process.terminate()
        process.join()


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process so far, including its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# The collector ------------------------------------------------------------------------------------


class WrittenDown:
    """A sink that accepts every trajectory and writes the records that a learner would."""

    def __init__(self, run: RunDirectory) -> None:
        self._episodes = LineLog.open(run.episodes)
        self._metrics = LineLog.open(run.metrics)
        self._begun = time.monotonic()
        self._count = 0

    def put(self, trajectory: Trajectory) -> bool:
        now = EPISODES_BEFORE / 10 + time.monotonic() - self._begun
        self._count += 1
        line = EpisodeLine(
            trajectory.id, trajectory.task.id, trajectory.task.template, trajectory.ending,
            len(trajectory.decisions), 0, 0, "phone-0", now - 1.0, now,
        )  # fmt: skip
        self._episodes.append(line)
        figures = {"queue": 0.0, "seconds/act": now, "seconds/decide": now}
        self._metrics.append(Point("collection", self._count, now, figures))
        return True


def make_collector(run: RunDirectory) -> Collector[SimulatedDevice]:
    """Make a collector as a run does; torch is imported here, in this process alone."""
    from distrl.agent.loading import load_policy
    from distrl.agent.torch_device import use_threads
    from distrl.episodes.collector import Collector
    from distrl.episodes.device_pool import DevicePool
    from distrl.episodes.live_feed import LiveFeed
    from distrl.episodes.policy_batcher import PolicyBatcher
    from distrl.task_sets.curriculum import UniformTasks
    from distrl.task_sets.task_pool import SimulatedTasks
    from phonesim.simulated_device import SimulatedDevice
    from phonesim.tasks.fact_judge import FactJudge

    use_threads(1)  # the default of `collection.threads`
    names = [f"phone-{number}" for number in range(PHONES)]
    return Collector(
        "collector-0.1", PolicyBatcher(load_policy("starter", device="cpu", greedy=False)),
        DevicePool([SimulatedDevice(name) for name in names]),
        UniformTasks(SimulatedTasks(TEMPLATES)), WrittenDown(run), FactJudge,
        live=LiveFeed(run.path, "collector-0.1", names),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Half:
    """The cost of one half of a pair, in seconds of CPU time per decision."""

    collector: float
    server: float
    mean_batch: float
    seconds: float  # wall time

    @property
    def whole(self) -> float:
        return self.collector + self.server


def play(collector: Collector[SimulatedDevice], episodes: int, server_pid: int) -> Half:
    before = collector.report().batcher
    begun, own, served = time.perf_counter(), time.process_time(), cpu_seconds(server_pid)
    collector.run(episodes)
    own, served = time.process_time() - own, cpu_seconds(server_pid) - served
    after = collector.report().batcher
    decisions = after.decisions - before.decisions
    batches = sum(after.batches.values()) - sum(before.batches.values())
    seconds = time.perf_counter() - begun
    return Half(own / decisions, served / decisions, decisions / batches, seconds)


@contextlib.contextmanager
def watched(run: RunDirectory, port: int, collector: Collector[SimulatedDevice]) -> Iterator[None]:
    """Run a reader of the wall that has seen phones; exit once nobody counts as watching."""
    from distrl.episodes.live_feed import FOLDER, LEASE, LEASE_SECONDS, LOOK_SECONDS, Audience

    Audience(run.path).renew()
    reader = subprocess.Popen(
        [sys.executable, str(READER), str(port), run.path.name], stdout=subprocess.PIPE
    )
    try:
        assert reader.stdout is not None
        os.set_blocking(reader.stdout.fileno(), False)
        end = time.monotonic() + FIRST_SECONDS
        while not reader.stdout.read(1):
            assert time.monotonic() < end, "no phone came from the server"
            collector.run(PHONES)  # produces something to see
        yield
    finally:
        reader.terminate()
        reader.wait()
        (run.path / FOLDER / LEASE).unlink(missing_ok=True)
        time.sleep(LEASE_SECONDS + LOOK_SECONDS)


def measure_pairs(run: RunDirectory, pairs: int, episodes: int, *, browser: bool) -> Figures:
    collector = make_collector(run)
    taken: list[tuple[Half, Half]] = []  # alone, watched
    with run.held(), server(run.path) as (port, pid):
        collector.run(episodes)  # warm-up
        for number in range(pairs):
            halves: dict[bool, Half] = {}
            for looked_at in (False, True) if number % 2 == 0 else (True, False):
                audience = watched(run, port, collector) if looked_at else contextlib.nullcontext()
                with audience:
                    halves[looked_at] = play(collector, episodes, pid)
            taken.append((halves[False], halves[True]))
            print(f"alone {halves[False]}\nwatched {halves[True]}", file=sys.stderr, flush=True)
        shown = _measure_browser(run, port, collector, episodes) if browser else {}
    ratios = [busy.whole / alone.whole - 1.0 for alone, busy in taken]
    return {
        "training_slowdown": statistics.median(ratios),
        "training_slowdown_pairs": float(pairs),
        "training_slowdown_low": min(ratios),
        "training_slowdown_high": max(ratios),
        "training_slowdown_collector": statistics.median(
            busy.collector / alone.collector - 1.0 for alone, busy in taken
        ),
        "training_slowdown_server": statistics.median(
            (busy.server - alone.server) / alone.collector for alone, busy in taken
        ),
        "training_half_s": statistics.median(each.seconds for pair in taken for each in pair),
        "training_mean_batch_alone": statistics.median(alone.mean_batch for alone, _ in taken),
        "training_mean_batch_watched": statistics.median(busy.mean_batch for _, busy in taken),
        **shown,
    }


# Chromium -----------------------------------------------------------------------------------------


def _measure_browser(
    run: RunDirectory, port: int, collector: Collector[SimulatedDevice], episodes: int
) -> Figures:
    from playwright.sync_api import sync_playwright

    from distrl.devices.browser.chromium import find_chromium

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"http://127.0.0.1:{port}/#/{run.path.name}/wall")
        page.wait_for_selector("h1")
        collector.run(PHONES)
        page.wait_for_selector(".live img[src^=data]")
        begun, before = time.perf_counter(), browser_seconds()
        collector.run(episodes)
        spent, lasted = browser_seconds() - before, time.perf_counter() - begun
        browser.close()
    return {"browser_cpu_share": spent / lasted}


def browser_seconds() -> float:
    """Return the CPU time of all Chromium processes that descend from this one."""
    parents: dict[int, tuple[int, str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = path.read_text("utf-8", "replace").partition("(")[2].rpartition(")")
            parents[int(path.parent.name)] = int(rest.split()[1]), name

    def is_ours(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid][0]
        return pid == os.getpid()

    total = 0.0
    for pid, (_, name) in parents.items():
        if name.startswith(("chrom", "headless", "google-chrome")) and is_ours(pid):
            with contextlib.suppress(OSError):  # the process has just ended
                total += cpu_seconds(pid)
    return total


# As a part of `make bench-view` -------------------------------------------------------------------


def measure_slowdown(pairs: int, episodes: int, *, browser: bool = True) -> Figures:
    """Return the figures above, measured in a process started as a run starts its own."""
    words = [sys.executable, "-m", "benchmarks.view_slowdown"]
    words += ["--pairs", str(pairs), "--episodes", str(episodes)]
    words += [] if browser else ["--no-browser"]
    environment = for_forkserver(os.environ)
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, check=True)
    found: Figures = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--episodes", type=int, default=24, help="of each half of a pair")
    parser.add_argument("--no-browser", action="store_true", help="leave Chromium out")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        run = write_many_episodes(Path(scratch) / "train", EPISODES_BEFORE)
        figures = measure_pairs(run, given.pairs, given.episodes, browser=not given.no_browser)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
