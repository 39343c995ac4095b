"""Measure the throughput gained by asynchronous collection (`make bench-async`).

Thirty-two simulated phones with the waits of the paper's emulators (`latency.PAPER_EMULATOR`) play
on a scaled clock, with our own collector, batcher, device pool and judge. The policy answers at
once and ends its episodes as the paper's does (H = 10; a success takes N(5, 1.8) steps, a failure
mostly all), so that only the arrangement differs. The learner only waits: 120 s of the devices'
clock for each 32 trajectories (4 x V100 in the paper). There are two by two arrangements:

                     learner blocks collection             learner overlaps with it
    barrier          sync: a round, all wait for the       barrier_overlap: trains on the previous
                     slowest, train, the next round        round while the next one is played
    no barrier       free_block: no episode starts         async: nobody waits for anything
                     while the learner trains

Two arrangements that are compared run at the same time, each in a process of its own. Of the gain,
`barrier_share` comes from the barrier and `overlap_share` from the overlap (averaged over the two
orders of removing them, in logarithms). `spread_N`: whole episodes take up to N times as long as
others. `traj_per_min_32` is async with the further waits that the paper's workers had at every
step: image features, a model without a key-value cache, and a call of the evaluator. (The paper's
7.7 a minute include all of these, and a process start for every two episodes.)

`--quick` runs every arrangement briefly as a smoke test, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.table import Table

from benchmarks.results_file import write_results
from distrl.episodes.collector import Collector
from distrl.episodes.collector_report import CollectorReport
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import PolicyBatcher, PolicyBatcherSettings
from distrl.hierarchy import Element
from distrl.records import Action, Decision, Done, Observation, Screen, Tap, Trajectory
from distrl.task_sets.curriculum import UniformTasks
from distrl.task_sets.task_pool import SimulatedTasks
from phonesim.clock import ScaledClock
from phonesim.latency import (
    EVALUATOR_CALL,
    IMAGE_FEATURES,
    LEARNER_UPDATE,
    PAPER_EMULATOR,
    POLICY_INFERENCE,
)
from phonesim.phone import Phone
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import template_names

DEVICES = 32
SPEED = 30.0  # device seconds per real second
ARM_SECONDS = 40.0  # real seconds for each arrangement
WARM_UP = 200.0  # device seconds before counting starts in the arrangements without rounds
STEP_LIMIT, SUCCESS_RATE = 10, 0.6
SKIPPED_EVALUATIONS = 0.3  # share of steps whose frame was seen before, which the evaluator skips
SPREADS = {1: 0.0, 10: 0.5, 100: 1.0}  # log-deviation of episode times
PAPER_PER_MINUTE = 7.7


# What is played -----------------------------------------------------------------------------------


class QuickPolicy:
    """Taps random places and ends after as many steps as the paper's agents took."""

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return [Decision(self._action(each)) for each in observations]

    def _action(self, seen: Observation) -> Action:
        step = len(seen.past_actions)
        if step + 1 >= episode_length(seen.instruction):
            return Done()
        rng = random.Random(f"tap/{seen.instruction}/{step}")
        return Tap(rng.random(), 0.1 + 0.8 * rng.random())


def episode_length(instruction: str) -> int:
    rng = random.Random(f"length/{instruction}")
    if rng.random() < SUCCESS_RATE:
        return min(STEP_LIMIT, max(2, round(rng.gauss(5.0, 1.8))))
    return STEP_LIMIT if rng.random() < 0.8 else rng.randint(3, STEP_LIMIT)


class StationedPhone:
    """A phone that also waits, at every step, for the paper's model and for its evaluator."""

    blocking = True

    def __init__(self, device: SimulatedDevice) -> None:
        self._device = device
        self._rng = random.Random(f"stations/{device.name}")

    @property
    def name(self) -> str:
        return self._device.name

    @property
    def phone(self) -> Phone:
        return self._device.phone

    @property
    def seconds(self) -> float:
        return self._device.seconds

    def reset(self, seed: int) -> None:
        self._device.reset(seed)

    def screen(self) -> Screen:
        return self._device.screen()

    def elements(self) -> tuple[Element, ...]:
        return self._device.elements()

    def perform(self, action: Action) -> Screen:
        wait = IMAGE_FEATURES.draw(self._rng) + POLICY_INFERENCE.draw(self._rng)
        if self._rng.random() >= SKIPPED_EVALUATIONS:
            wait += EVALUATOR_CALL.draw(self._rng)
        self._device.clock.sleep(wait)
        return self._device.perform(action)

    def close(self) -> None:
        self._device.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


# The learner, and who waits for it ----------------------------------------------------------------


class TimedLearner:
    """A learner that only waits out the time of an update for every 32 trajectories."""

    def __init__(self, blocks: bool) -> None:
        self.blocks = blocks
        self.arrived: list[float] = []  # when each trajectory arrived, in device seconds
        self._clock = ScaledClock(SPEED)
        self._changed = threading.Condition()
        self._waiting = 0
        self._training = False

    @property
    def now(self) -> float:
        return self._clock.now

    def put(self, trajectory: Trajectory) -> bool:
        with self._changed:
            self.arrived.append(self.now)
            self._waiting += 1
            self._changed.notify_all()
        return True

    def may_start(self, weight_version: int, in_flight: int) -> bool:
        due = self._training or self._waiting >= DEVICES
        return not (self.blocks and due)

    def train(self) -> None:
        """Wait out one update without checking for enough trajectories, as rounds need it."""
        with self._changed:
            self._training, self._waiting = True, 0
        self._clock.sleep(LEARNER_UPDATE.median)
        self._training = False

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Train in a thread of its own whenever there are enough trajectories."""
        over = threading.Event()

        def work() -> None:
            while not over.is_set():
                with self._changed:
                    self._changed.wait_for(lambda: self._waiting >= DEVICES, timeout=0.1)
                    enough = self._waiting >= DEVICES
                if enough:
                    self.train()

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()


def new_collector(
    learner: TimedLearner, spread: int, *, stations: bool
) -> Collector[StationedPhone] | Collector[SimulatedDevice]:
    latency = replace(PAPER_EMULATOR, episode_log_sd=SPREADS[spread])
    phones = [
        SimulatedDevice(f"phone-{n}", latency=latency, clock=ScaledClock(SPEED))
        for n in range(DEVICES)
    ]
    source = UniformTasks(SimulatedTasks(tuple(template_names("train", "general"))))
    batcher = PolicyBatcher(QuickPolicy(), PolicyBatcherSettings(max_wait_seconds=0.0))
    if stations:
        device_pool = DevicePool([StationedPhone(phone) for phone in phones])
        return Collector("bench", batcher, device_pool, source, learner, FactJudge, learner)
    return Collector("bench", batcher, DevicePool(phones), source, learner, FactJudge, learner)


# The arrangements ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Measured:
    """The measured result of an arrangement."""

    per_minute: float  # trajectories per minute of the devices' clock
    device_busy: float
    trajectories: int


def run_free(spread: int, seconds: float, *, blocks: bool, stations: bool = False) -> Measured:
    """Run without rounds and count the trajectories that arrive after the warm-up."""
    learner = TimedLearner(blocks)
    collector = new_collector(learner, spread, stations=stations)
    reports: list[CollectorReport] = []

    def end_it() -> None:
        reports.append(collector.report())  # cut episodes must not count as idle
        collector.stop()

    begun = learner.now
    threading.Timer(seconds, end_it).start()
    with learner.beside():
        collector.run()
    end = begun + seconds * SPEED
    start = begun + min(WARM_UP, seconds * SPEED / 3)
    count = sum(start <= each < end for each in learner.arrived)
    return Measured(60.0 * count / (end - start), reports[0].device_busy, count)


def run_rounds(spread: int, seconds: float, *, overlaps: bool) -> Measured:
    """Run in rounds; only whole rounds count."""
    learner = TimedLearner(blocks=False)
    collector = new_collector(learner, spread, stations=False)
    begun, until = learner.now, time.monotonic() + seconds
    training: threading.Thread | None = None
    while time.monotonic() < until:
        collector.run(DEVICES)
        if training is not None:
            training.join()
        training = threading.Thread(target=learner.train)
        training.start()
        if not overlaps:
            training.join()
    if training is not None:
        training.join()
    minutes = (learner.now - begun) / 60.0
    busy = sum(collector.report().busy.values()) * SPEED / (60.0 * minutes * DEVICES)
    return Measured(len(learner.arrived) / minutes, busy, len(learner.arrived))


def run_arm(arm: str, spread: int, seconds: float) -> Measured:
    match arm:
        case "async":
            return run_free(spread, seconds, blocks=False)
        case "stations":
            return run_free(spread, seconds, blocks=False, stations=True)
        case "free_block":
            return run_free(spread, seconds, blocks=True)
        case "barrier_overlap":
            return run_rounds(spread, seconds, overlaps=True)
        case "sync":
            return run_rounds(spread, seconds, overlaps=False)
    raise ValueError(arm)


def measure_together(arms: Sequence[tuple[str, int]], seconds: float) -> list[Measured]:
    """Run the arrangements at the same time, each in a process of its own."""
    started = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "benchmarks.async_collection",
                "--arm",
                arm,
                "--spread",
                str(spread),
                "--seconds",
                str(seconds),
            ],
            stdout=subprocess.PIPE,
        )
        for arm, spread in arms
    ]
    answers = [process.communicate()[0] for process in started]
    for process in started:
        if process.returncode:
            raise SystemExit(f"an arrangement failed with code {process.returncode}")
    return [Measured(**json.loads(answer)) for answer in answers]


# What it comes to ---------------------------------------------------------------------------------


def shares(square: dict[str, float]) -> tuple[float, float]:
    """Split log(async / sync) into the share of the barrier and the share of the overlap."""
    log = {name: math.log(rate) for name, rate in square.items()}
    total = log["async"] - log["sync"]
    barrier = log["free_block"] - log["sync"] + log["async"] - log["barrier_overlap"]
    overlap = log["barrier_overlap"] - log["sync"] + log["async"] - log["free_block"]
    return barrier / 2 / total, overlap / 2 / total


def measure(console: Console, seconds: float) -> dict[str, float]:
    console.print(f"{DEVICES} phones, {seconds:g} s for each arrangement, clock x {SPEED:g}")
    fast, slow = measure_together([("async", 1), ("sync", 1)], seconds)
    overlap, free = measure_together([("barrier_overlap", 1), ("free_block", 1)], seconds)
    square = {
        "async": fast.per_minute,
        "sync": slow.per_minute,
        "barrier_overlap": overlap.per_minute,
        "free_block": free.per_minute,
    }
    barrier_share, overlap_share = shares(square)
    figures = {
        "async_over_sync": fast.per_minute / slow.per_minute,
        "barrier_share": barrier_share,
        "overlap_share": overlap_share,
        "device_busy": fast.device_busy,
        "device_busy_sync": slow.device_busy,
        "async_over_sync_spread_1": fast.per_minute / slow.per_minute,
    }
    for spread in (10, 100):
        one, other = measure_together([("async", spread), ("sync", spread)], seconds)
        figures[f"async_over_sync_spread_{spread}"] = one.per_minute / other.per_minute
    [stations] = measure_together([("stations", 1)], seconds)
    figures["traj_per_min_32"] = stations.per_minute
    figures["traj_per_min_32_over_paper"] = stations.per_minute / PAPER_PER_MINUTE
    return figures | {f"{name}_per_min": rate for name, rate in square.items()}


def show(console: Console, figures: dict[str, float]) -> None:
    table = Table("figure", "value", box=None, padding=(0, 2, 0, 0))
    for name, value in figures.items():
        table.add_row(name, f"{value:.3f}")
    console.print(table, highlight=False)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--quick", action="store_true")
    words.add_argument("--seconds", type=float, default=ARM_SECONDS)
    words.add_argument("--arm")
    words.add_argument("--spread", type=int, default=1)
    chosen = words.parse_args()
    if chosen.arm:
        found = run_arm(chosen.arm, chosen.spread, chosen.seconds)
        print(json.dumps({name: getattr(found, name) for name in Measured.__slots__}))
        return
    console = Console()
    figures = measure(console, 6.0 if chosen.quick else chosen.seconds)
    show(console, figures)
    if not chosen.quick:
        console.print(write_results("async", figures))


if __name__ == "__main__":
    main()
