"""Measure how many trajectories a second are stored durably from 8 collectors (`make bench-store`).

8 client processes send trajectories of 190 kB, each the next one when the last was acknowledged, to
one process that does what a learner's does: it accepts readable trajectories, stores them durably
and acknowledges them. The store is on the disk of `--folder`; in memory (tmpfs) there is nothing to
wait for, and the figures mean nothing.

    appends_per_s_8      acknowledged a second, all clients together
    append_ms_p95        from the beginning of a send to its acknowledgement, of all clients
    deliveries_a_commit  how many share one wait for the disk, on average
    old_…                the same of the store before SQLite, in the same run, before ours; its code
                         is in `--old PATH`, a checkout of commit 6795fae
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results_file import write_results

CLIENTS = 8
SCREENS, HEIGHT, WIDTH = 11, 96, 59  # noise, which does not compress: 17 kB each
WARM_UP = 0.1  # of the time, not counted
Figures = dict[str, float]
DeliverMany = Callable[[list[tuple[bytes, Callable[[object], None]]]], None]


@dataclass(slots=True)
class Side:
    """The learner's side of old or new code: how to accept deliveries, and its queue."""

    deliver_many: DeliverMany
    arrivals: Any
    close: Callable[[], None]
    commits: int = 0
    delivered: int = 0
    moments: list[float] = field(default_factory=list)  # times of acknowledgements


def open_new(folder: Path) -> Side:
    ingest, replay = "distrl.engine.ingest", "distrl.replay.store.trajectory_store"
    store = importlib.import_module(replay).TrajectoryStore(folder / "store").open()
    lines = importlib.import_module("distrl.json_lines").LineLog.open(folder / "lines")
    log = importlib.import_module(f"{ingest}.episode_log").EpisodeLog(lines, time.monotonic)
    delivery = importlib.import_module(f"{ingest}.delivery")
    arrivals = delivery.ArrivalQueue()
    receiver = delivery.TrajectoryReceiver(store, arrivals, log)
    return Side(receiver.deliver_many, arrivals, store.close)


def open_old(folder: Path) -> Side:
    store = importlib.import_module("distrl.replay.trajectory_store").TrajectoryStore(
        folder / "store"
    )
    store.open()
    lines = importlib.import_module("distrl.reporting.json_lines").LineLog.open(folder / "lines")
    log = importlib.import_module("distrl.engine.episode_ledger").EpisodeLedger(
        lines, time.monotonic
    )
    arrivals = importlib.import_module("distrl.engine.arrival_queue").ArrivalQueue()
    reception = importlib.import_module("distrl.engine.reception").Reception(store, arrivals, log)

    def deliver_many(deliveries: Iterable[tuple[bytes, Callable[[object], None]]]) -> None:
        for encoded, acknowledge in deliveries:  # the old code had no batches
            reception.deliver(encoded, acknowledge)

    return Side(deliver_many, arrivals, store.close)


def client(connection: Connection, number: int) -> None:
    """Send until the other side closes; each send carries the duration of the one before."""
    from distrl.records import Decision, Done, Ending, Screen, Task, Trajectory, Verdict

    encoding = importlib.import_module("distrl.replay.trajectory_encoding")
    packing = importlib.import_module("distrl.replay.compressed_screen")
    rng = np.random.default_rng(number)
    noise = rng.integers(0, 256, (SCREENS, HEIGHT, WIDTH, 3), dtype=np.uint8)
    screens = tuple(packing.compress(Screen(pixels)) for pixels in noise)
    task = Task("bench.store/train/1", "Do it", "general", "bench", "train", 1, (), "easy", 20)
    steps = (Decision(Done(), "done", tuple(range(20)), (-0.5,) * 20),) * (SCREENS - 1)
    one = Trajectory("", task, steps, screens, Ending.SUCCESS, Verdict(True, "", "bench"), 1.0)
    count, taken = 0, 0.0
    try:
        while True:
            encoded = encoding.encode_trajectory(replace(one, id=f"client-{number}/{count}"))
            begun = time.monotonic()
            connection.send_bytes(encoded + np.float64(taken).tobytes())
            connection.recv_bytes()
            taken = time.monotonic() - begun
            count += 1
    except (EOFError, OSError):
        return


def serve(side: Side, connections: list[Connection], seconds: float) -> list[float]:
    """Accept, store and acknowledge; return each delivery's duration as its client measured it."""
    taken: list[float] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        batch = []
        for ready in wait(connections, timeout=0.1):
            assert isinstance(ready, Connection)
            data = ready.recv_bytes()
            taken.append(float(np.frombuffer(data[-8:])[0]))
            batch.append((data[:-8], _acknowledge(side, ready)))
        if batch:
            side.commits += 1
            side.delivered += len(batch)
            side.deliver_many(batch)
        while len(side.arrivals):
            side.arrivals.popleft()
    return taken


def _acknowledge(side: Side, connection: Connection) -> Callable[[object], None]:
    def acknowledge(answer: object) -> None:
        if type(answer).__name__ != "Received":
            raise SystemExit(f"not stored: {answer}")
        side.moments.append(time.monotonic())
        connection.send_bytes(b"received")

    return acknowledge


def measure(opening: Callable[[Path], Side], folder: Path, seconds: float) -> Figures:
    processes = multiprocessing.get_context("fork")
    pairs = [processes.Pipe() for _ in range(CLIENTS)]
    clients = [
        processes.Process(target=client, args=(theirs, number), daemon=True)
        for number, (_, theirs) in enumerate(pairs)
    ]
    for each in clients:
        each.start()
    with tempfile.TemporaryDirectory(dir=folder, prefix="bench-store-") as scratch:
        side = opening(Path(scratch))
        taken = serve(side, [ours for ours, _ in pairs], seconds)
        side.close()
    for each in clients:
        each.kill()
        each.join()
    counted = side.moments[int(WARM_UP * len(side.moments)) :]
    latencies = sorted(taken[int(WARM_UP * len(taken)) :])
    return {
        "appends_per_s_8": (len(counted) - 1) / (counted[-1] - counted[0]),
        "append_ms_p95": 1000 * latencies[int(0.95 * len(latencies))],
        "deliveries_a_commit": side.delivered / side.commits,
        "appends": len(side.moments),
    }


def measure_old(old: Path, folder: Path, seconds: float) -> Figures:
    """Measure in a process of its own that imports the old code."""
    words = [sys.executable, "-m", "benchmarks.store", "--as-old", "--folder", str(folder)]
    told = subprocess.run(
        [*words, "--seconds", str(seconds)],
        env=os.environ | {"PYTHONPATH": str(old / "src")},
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    figures: Figures = json.loads(told.stdout)
    return {"old_appends_per_s_8": figures["appends_per_s_8"],
            "old_append_ms_p95": figures["append_ms_p95"]}  # fmt: skip


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--old", type=Path, help="a checkout of the code before SQLite")
    words.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    words.add_argument("--folder", type=Path, default=Path(), help="on the disk to be measured")
    words.add_argument("--as-old", action="store_true", help=argparse.SUPPRESS)
    chosen = words.parse_args()
    folder = chosen.folder.absolute()
    if chosen.as_old:
        print(json.dumps(measure(open_old, folder, chosen.seconds)))
        return
    figures: Figures = {}
    if chosen.old is not None:
        figures |= measure_old(chosen.old.absolute(), folder, chosen.seconds)
    figures |= measure(open_new, folder, chosen.seconds)
    for name, value in figures.items():
        print(f"{name:22} {value:,.4g}")
    print(write_results("store", figures))


if __name__ == "__main__":
    main()
