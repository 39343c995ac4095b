"""Measure collectors that join over TLS: their throughput, and faults and attacks they survive.

`make bench-join`, with all processes on one machine:

    throughput_ratio   trajectories a second of a joined collector over those of a local one, in one
                       run of `distrl collect`, at the same time, on as many phones each; the
                       phones limit both, not this machine's cores
    throughput_error   one standard error of that ratio, from the number counted
    trajectories       played by joined collectors whose connections are cut, whose answers are
                       dropped, and whose learner is restarted; of these
    lost, doubled      are not in the learner's store; are in its store or its log twice
    joins              collectors that join, deliver a trajectory and leave
    hostile_requests   of strangers and of members (`hostile_requests`), while a member delivers
    refused, crashes   of these; how often the listener failed rather than refused
    unanswered         of these: the listener was silent for 20 s

`--parts` measures only some parts, each with a date of its own in `results/join.json`.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.cheap_joined import join_cheaply
from benchmarks.faulty_relay import FaultyRelay
from benchmarks.hostile_requests import CLOSED, SILENT, HostilePeer
from benchmarks.listening_learner import ListeningLearner, join_request, listening_learner
from benchmarks.results_file import update_results
from distrl.engine.join.join_messages import Deliveries, JoinHeartbeat
from distrl.engine.join.trajectory_spool import TrajectorySpool
from distrl.errors import JoinRefused, LearnerGone
from distrl.json_lines import read_lines
from distrl.process_environment import for_forkserver
from distrl.records import Decision, Done, Ending, Screen, Task, Trajectory, Verdict
from distrl.replay.trajectory_encoding import encode_trajectory
from distrl.runs.run_records import EpisodeLine

T = TypeVar("T")
Figures = dict[str, float]
PHONES = 8  # of each of the two collectors that are compared
SETTINGS = (
    "tasks.templates=clock.turn_off_alarm,clock.delete_alarm", "devices.latency=paper_emulator",
    "devices.clock=scaled", "devices.clock_speed=5", f"devices.count={PHONES}",
)  # fmt: skip
COLLECTORS = 3  # joined, while connections are cut
ATTACKERS = 8  # threads
JOINERS = 16  # threads
LONG = 900.0  # seconds after which any wait fails
SWALLOW_SECONDS = 10.0  # seconds for one delivery while answers are dropped
TASK = Task("bench.join/train/1", "Do it", "general", "bench", "train", 1, (), "easy", 20)


def command(*words: str) -> list[str]:
    return [sys.executable, "-c", "from distrl.cli.main import main; main()", *words]


def until(condition: Callable[[], object], what: str) -> None:
    if not within(LONG, condition):
        raise SystemExit(f"{what} did not come to be in {LONG:.0f} s")


def within(seconds: float, condition: Callable[[], object]) -> bool:
    """Wait for a condition; return False if it does not hold in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


# Throughput ---------------------------------------------------------------------------------------


def measure_throughput(folder: Path, seconds: float) -> Figures:
    """Count the trajectories of a local and a joined collector of one run while both play."""
    words = ["collect", "--listen", "127.0.0.1:0", "--set", f"run.directory={folder}"]
    for each in (*SETTINGS, f"run.minutes={LONG / 60}", "collection.heartbeat_seconds=1"):
        words += ["--set", each]
    log = folder / "learner.log"
    with log.open("wb") as output:
        run = subprocess.Popen(
            command(*words), stdout=output, stderr=output, env=for_forkserver(os.environ)
        )
    joined: subprocess.Popen[bytes] | None = None
    try:
        until(lambda: "(copy that file" in log.read_text("utf-8"), "the listener")
        said = re.sub(r"\s+", " ", log.read_text("utf-8"))
        found = re.search(r"collect (--join \S+ --fingerprint \S+) --token-file", said)
        assert found is not None
        [run_folder] = folder.glob("*/join")
        words = ["collect", *found[1].split(), "--token-file", str(run_folder / "token")]
        words += ["--spool", str(folder / "spool")]
        for each in SETTINGS[1:]:
            words += ["--set", each]
        with (folder / "joined.log").open("wb") as output:
            joined = subprocess.Popen(
                command(*words), stdout=output, stderr=output, env=for_forkserver(os.environ)
            )
        return _rates(run_folder.parent / "episodes.jsonl", seconds)
    finally:
        for process in (joined, run):
            if process is not None:
                process.terminate()
                process.wait()


def _rates(episodes: Path, seconds: float) -> Figures:
    def counts() -> Counter[str]:
        lines = read_lines(episodes, EpisodeLine) if episodes.exists() else ()
        return Counter("joined" if "-1024." in each.id else "local" for each in lines)

    until(lambda: counts()["joined"] >= 2 * PHONES <= counts()["local"], "play on both sides")
    before, since = counts(), time.monotonic()
    time.sleep(seconds)
    after, spent = counts(), time.monotonic() - since
    played = {side: after[side] - before[side] for side in ("joined", "local")}
    rates = {side: count / spent for side, count in played.items()}
    ratio = played["joined"] / played["local"]
    return {
        "throughput_ratio": ratio,
        "throughput_error": ratio * sum(1.0 / count for count in played.values()) ** 0.5,
        "joined_trajectories_per_s": rates["joined"],
        "local_trajectories_per_s": rates["local"],
        "compared_trajectories": sum(after.values()) - sum(before.values()),
    }


# Cuts ---------------------------------------------------------------------------------------------


class CountedSpool(TrajectorySpool):
    """A spool that remembers the ids it was given."""

    def __init__(self, folder: Path, max_waiting: int) -> None:
        super().__init__(folder, max_waiting)
        self.given: list[str] = []

    def put(self, trajectory: Trajectory) -> bool:
        self.given.append(trajectory.id)
        return super().put(trajectory)


def measure_cuts(folder: Path, cuts: int, restarts: int) -> Figures:
    with ExitStack() as opened:
        spools: list[CountedSpool] = []
        relay: FaultyRelay | None = None
        arrived: Counter[str] = Counter()
        for life in range(restarts + 1):
            with listening_learner(folder / "learner") as learner:
                if relay is None:
                    relay = opened.enter_context(FaultyRelay(learner.port))
                    for number in range(COLLECTORS):
                        spool = CountedSpool(folder / f"spool-{number}", 8)
                        join_cheaply(learner.client(relay.port), spool, opened)
                        spools.append(spool)
                relay.target = learner.port
                for _ in range(cuts // (restarts + 1)):
                    _cut(relay, learner)
                relay.mend()
                if life == restarts:
                    until(lambda: len(learner.registry.collectors()) == COLLECTORS, "all to join")
                    learner.registry.stop(60.0)
                    until(lambda: not any(len(each) for each in spools), "the last deliveries")
                    until(learner.registry.is_over, "the end of all sessions")
                while len(learner.arrivals):
                    arrived[learner.arrivals.popleft().id] += 1
                stored = Counter(learner.stored())
        given = {each for spool in spools for each in spool.given}
        return {
            "trajectories": len(given),
            "lost": len(given - stored.keys()),
            "doubled": sum(n - 1 for n in stored.values()) + sum(n - 1 for n in arrived.values()),
            "cuts": cuts,
            "learner_restarts": restarts,
        }


def _cut(relay: FaultyRelay, learner: ListeningLearner) -> None:
    """Cut all connections after five deliveries; about every second time, drop an answer first."""
    relay.mend()
    _wait_for_arrivals(learner, 5)
    if len(learner.arrivals) % 2:
        _swallow(relay, learner)
    relay.cut()


def _swallow(relay: FaultyRelay, learner: ListeningLearner) -> None:
    """Have a trajectory stored whose answer never arrives.

    A connection that is lost meanwhile cannot be opened again, since its handshake is dropped too;
    so answers are let through for a while.
    """
    while not _stores_without_answer(relay, learner):
        relay.mend()
        _wait_for_arrivals(learner, 1)


def _stores_without_answer(relay: FaultyRelay, learner: ListeningLearner) -> bool:
    arrived = len(learner.arrivals)
    relay.drop_answers()
    return within(SWALLOW_SECONDS, lambda: len(learner.arrivals) > arrived)


def _wait_for_arrivals(learner: ListeningLearner, more: int) -> None:
    wanted = len(learner.arrivals) + more
    until(lambda: len(learner.arrivals) >= wanted, "deliveries after a cut")


# Joins and hostile requests -------------------------------------------------------------------


def measure_joins(folder: Path, count: int) -> Figures:
    with listening_learner(folder) as learner, ThreadPoolExecutor(JOINERS) as threads:
        since = time.monotonic()
        list(threads.map(lambda number: _visit(learner, number), range(count)))
        spent = time.monotonic() - since
        stored = learner.stored()
        if len(stored) != count or len(set(stored)) != count:
            raise SystemExit(f"{len(stored)} trajectories of {count} collectors that joined")
        left = len(learner.registry.collectors())
        return {"joins": count, "joins_per_s": count / spent, "joins_that_did_not_leave": left}


def _visit(learner: ListeningLearner, number: int) -> None:
    with learner.client() as client:
        name = patiently(lambda: client.join(join_request(f"{number:032x}"))).name
        patiently(lambda: client.heartbeat(JoinHeartbeat(1)))
        patiently(lambda: client.deliver(Deliveries((episode(name, 1),))))
        with suppress(JoinRefused):  # the first request was heard, but its answer came too late
            patiently(lambda: client.leave(JoinHeartbeat(0)))


def patiently(ask: Callable[[], T]) -> T:
    """Retry when no answer comes in time, as a collector does; a busy machine may need it."""
    while True:
        try:
            return ask()
        except LearnerGone as error:
            print(f"again: {error}", flush=True)


def episode(name: str, number: int) -> bytes:
    pixels = np.random.default_rng(number).integers(0, 256, (40, 20, 3), dtype=np.uint8)
    verdict = Verdict(True, "", "bench")
    return encode_trajectory(
        Trajectory(
            f"{name}/{number}/x", TASK, (Decision(Done()),), (Screen(pixels),) * 2, Ending.SUCCESS,
            verdict, 1.0,
        )
    )  # fmt: skip


@dataclass
class Failures(logging.Handler):
    """Counts what the server logs as an error: uncaught exceptions of ours."""

    sentences: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(logging.ERROR)

    __hash__ = logging.Handler.__hash__

    def emit(self, record: logging.LogRecord) -> None:
        self.sentences.append(record.getMessage())


def attack(port: int, token: str, session: str, seed: int, count: int) -> Counter[int]:
    peer = HostilePeer(port, token, session, seed)
    peer.attack(count)
    return peer.statuses


def measure_strangers(folder: Path, count: int) -> Figures:
    failures = Failures()
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addHandler(failures)
    threads = ThreadPoolExecutor(ATTACKERS)
    with listening_learner(folder) as learner, threads, learner.client() as client:
        request = join_request()
        name = client.join(request).name
        token, share = learner.identity.token(), count // ATTACKERS
        attacks = [
            threads.submit(attack, learner.port, token, join_request().session, seed, share)
            for seed in range(ATTACKERS)
        ]
        delivered = 0
        while not all(each.done() for each in attacks):
            delivered += 1
            encoded = episode(name, delivered)
            patiently(lambda: client.deliver(Deliveries((encoded,))))  # noqa: B023 — at once
            time.sleep(0.1)
        statuses = sum((each.result() for each in attacks), Counter[int]())
        if len(learner.stored()) != delivered:
            raise SystemExit(f"{delivered} were delivered, {len(learner.stored())} are stored")
        served = sum(n for status, n in statuses.items() if 200 <= status < 300)
        print(dict(sorted(statuses.items())), learner.refusals, failures.sentences[:3])
        return {
            "hostile_requests": share * ATTACKERS,
            "refused": share * ATTACKERS - served,
            "counted_refusals": sum(learner.refusals.values()),
            "closed_without_an_answer": statuses[CLOSED],
            "unanswered": statuses[SILENT],
            "crashes": statuses[500] + len(failures.sentences),
            "delivered_meanwhile": delivered,
        }


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--seconds", type=float, default=120.0, help="of the throughput")
    words.add_argument("--cuts", type=int, default=60)
    words.add_argument("--restarts", type=int, default=3, help="of the learner")
    words.add_argument("--joins", type=int, default=1000)
    words.add_argument("--requests", type=int, default=100_000, help="hostile ones")
    words.add_argument(
        "--parts", nargs="+", choices=("joins", "cuts", "strangers", "throughput"), help="all"
    )
    chosen = words.parse_args()
    logging.getLogger("distrl").setLevel(logging.ERROR)
    parts: dict[str, Callable[[Path], Figures]] = {
        "joins": lambda folder: measure_joins(folder, chosen.joins),
        "cuts": lambda folder: measure_cuts(folder, chosen.cuts, chosen.restarts),
        "strangers": lambda folder: measure_strangers(folder, chosen.requests),
        "throughput": lambda folder: measure_throughput(folder, chosen.seconds),
    }
    for part in chosen.parts or parts:
        with tempfile.TemporaryDirectory(prefix="bench-join-") as folder:
            found = parts[part](Path(folder))
        for name, value in found.items():
            print(f"{name:26} {value:,.4g}", flush=True)
        print(update_results("join", found, part))


if __name__ == "__main__":
    main()
