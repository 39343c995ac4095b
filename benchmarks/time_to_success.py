"""Measure how much sooner A-RIDE succeeds than DigiRL (`make bench-time-to-success`).

A-RIDE in the asynchronous arrangement against DigiRL in the synchronous one, as DigiRL has it on
many machines (`two_arrangements`), each with 32 phones and one learner. The other two combinations
are run as well, so that the gain can be split into arrangement and algorithm.

- *Time* is that of the devices' clock. Phones wait as the paper's emulators do, and an update of
  the paper (120 s; after each 32 trajectories in the synchronous arrangement) is 20 steps of the
  optimiser on 16 trajectories each, which is DigiRL's own setting (20 passes, 128 turns). So a step
  takes 6 s of that clock for every arm, and this machine's speed does not matter.
- *Success* is that of the published weights, sampled as they are played, on errands that are never
  trained on (`errand_phone.HELD_OUT`: other combinations of what is trained), computed exactly.
- *Time to success* is the first look at published weights that reaches 60 % (the paper's own mark),
  if the next two do too. A run that has not reached it by `LIMIT` counts as if it had just reached
  it, and is counted in `censored`: that makes the speed-up smaller where DigiRL's did not arrive,
  and flatters us where ours did not, so look at that figure first.
- *Speed-up* is the ratio of the two times for each seed; shown are the geometric mean and its 95 %
  interval (Student's t on the logarithms). `trajectories_ratio` is the same for the trajectories
  that were needed: above 1, A-RIDE needed fewer.
- *Tuning* was done on other seeds (200 to 205, and two more), each algorithm in its arrangement of
  the main pair: learning rates (A-RIDE 0.005 to 0.02, DigiRL 0.01 to 0.04), the critic's rate (0.01
  to 0.1), A-RIDE's form (signed advantages, or 1 for those above 0 as in its released code), λ (0
  to 1), discount, entropy, capacity and draws; DigiRL's curriculum (a quarter, half or all of a
  batch), λ (0.25 to 0.9), threshold and capacity. The best values are used, and the other two
  combinations use those of their algorithm. `--tune` tunes forms and rates again for all four.

Both arrangements are better than the originals (collectors live on, phones of a round do not wait
for each other at every step). `stations` repeats the main pair with what the paper's workers also
waited for at each step: image features, a model without a key-value cache, a called evaluator.

`--quick` runs a little of everything, and writes nothing.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import statistics
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.async_collection import shares
from benchmarks.results_file import write_results
from benchmarks.two_arrangements import (
    DEVICES,
    FORMS,
    AlgorithmName,
    Arm,
    Arrangement,
    Course,
    Form,
    Race,
)

TARGET = 0.6
LOWER_TARGETS = (0.3, 0.4, 0.5)  # lower success levels, for `speedup_to_…`
LIMIT = 15_000.0  # device seconds
TUNING_LIMIT = 3_000.0
GRID = (0.005, 0.01, 0.02)
SQUARE: tuple[tuple[AlgorithmName, Arrangement], ...] = (
    ("a_ride", "async"),
    ("digirl", "async"),
    ("a_ride", "sync"),
    ("digirl", "sync"),
)
CHOSEN: dict[AlgorithmName, tuple[Form, float]] = {
    "a_ride": ("filtered", 0.01),
    "digirl": ("all", 0.02),
}
OURS, THEIRS = "a_ride_async", "digirl_sync"
STUDENT = {
    1: 12.706,
    2: 4.303,
    3: 3.182,
    4: 2.776,
    5: 2.571,
    6: 2.447,
    7: 2.365,
    8: 2.306,
    9: 2.262,
}
CONSOLE = Console(width=110)
Races = dict[str, list[Race]]  # by arm, one race per seed
Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Effort:
    """The effort spent."""

    seeds: int = 5
    tuning_seeds: int = 2
    grid: tuple[float, ...] = GRID
    limit: float = LIMIT
    tuning_limit: float = TUNING_LIMIT
    target: float = TARGET


QUICK = Effort(seeds=2, tuning_seeds=1, grid=GRID[1:2], limit=700.0, tuning_limit=400.0, target=0.2)


# Runs --------------------------------------------------------------------------------------------


def run(arm: Arm, seed: int, target: float, limit: float) -> Race:
    torch.set_num_threads(1)
    return Course(arm, seed, target, limit).run()


class Runs:
    """Runs many arms and seeds at once, each in a process of a pool."""

    def __init__(self, pool: ProcessPoolExecutor, effort: Effort) -> None:
        self._pool = pool
        self._effort = effort

    def of(self, arms: Iterable[Arm], seeds: Iterable[int], limit: float) -> dict[Arm, list[Race]]:
        target, numbers = self._effort.target, list(seeds)
        asked = {
            arm: [self._pool.submit(run, arm, seed, target, limit) for seed in numbers]
            for arm in arms
        }
        return {arm: [each.result() for each in races] for arm, races in asked.items()}

    def tuned(self) -> list[Arm]:
        """Return the four arms, each with the fastest form and rate on the tuning seeds."""
        effort = self._effort
        candidates = [
            Arm(algorithm, arrangement, form, rate)
            for algorithm, arrangement in SQUARE
            for form in FORMS[algorithm]
            for rate in effort.grid
        ]
        seeds = range(1000, 1000 + effort.tuning_seeds)
        found = self.of(candidates, seeds, effort.tuning_limit)
        spent = {
            arm: mean_of(times(races, effort.target, effort.tuning_limit))
            for arm, races in found.items()
        }
        for arm, seconds in spent.items():
            CONSOLE.print(f"  {arm.name}, {arm.form}, {arm.learning_rate}: {seconds:,.0f} s")
        return [
            min((arm for arm in candidates if arm.name == name), key=spent.__getitem__)
            for name in dict.fromkeys(arm.name for arm in candidates)
        ]


# What they come to -------------------------------------------------------------------------------


def times(races: Sequence[Race], target: float, limit: float) -> list[float]:
    """Return device seconds to the target, or the limit where it was not reached."""
    reached = [race.first(target) for race in races]
    return [limit if look is None else look.seconds for look in reached]


def needed(races: Sequence[Race], target: float) -> list[float]:
    """Return trajectories to the target, or all of them where it was not reached."""
    found = [(race.first(target), race) for race in races]
    return [float(look.trajectories if look else len(race.staleness)) for look, race in found]


def mean_of(numbers: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(statistics.fmean(math.log(number) for number in numbers))


def ratio(theirs: Sequence[float], ours: Sequence[float]) -> tuple[float, float, float]:
    """Return the geometric mean of theirs over ours, seed by seed, and its interval.

    The interval is Student's on the logarithms, 95 %.
    """
    logs = [math.log(their / our) for their, our in zip(theirs, ours, strict=True)]
    middle, count = statistics.fmean(logs), len(logs)
    wide = STUDENT[count - 1] * statistics.stdev(logs) / math.sqrt(count)
    return math.exp(middle), math.exp(middle - wide), math.exp(middle + wide)


def compared(races: Races, effort: Effort) -> Figures:
    """Compare the main pair, and split the gain into arrangement and algorithm."""
    ours, theirs = races[OURS], races[THEIRS]
    figures = _three("speedup", *_both_times(theirs, ours, effort, effort.target))
    figures = {name.removeprefix("speedup_"): value for name, value in figures.items()}
    pair = needed(theirs, effort.target), needed(ours, effort.target)
    figures |= _three("trajectories_ratio", *pair)
    for target in LOWER_TARGETS:
        figures[f"speedup_to_{100 * target:.0f}"] = ratio(
            *_both_times(theirs, ours, effort, target)
        )[0]
    pace = {
        name: 1.0 / mean_of(times(each, effort.target, effort.limit))
        for name, each in races.items()
    }
    by_arrangement, by_algorithm = shares(
        {
            "sync": pace[THEIRS],
            "free_block": pace["digirl_async"],
            "barrier_overlap": pace["a_ride_sync"],
            "async": pace[OURS],
        }
    )
    figures["speedup_by_arrangement"] = figures["speedup"] ** by_arrangement
    figures["speedup_by_algorithm"] = figures["speedup"] ** by_algorithm
    return figures


def _both_times(
    theirs: Sequence[Race], ours: Sequence[Race], effort: Effort, target: float
) -> tuple[list[float], list[float]]:
    return times(theirs, target, effort.limit), times(ours, target, effort.limit)


def _three(name: str, theirs: Sequence[float], ours: Sequence[float]) -> Figures:
    """Return a ratio and its interval."""
    return dict(zip((name, f"{name}_low", f"{name}_high"), ratio(theirs, ours), strict=True))


def described(arm: Arm, races: Sequence[Race], effort: Effort) -> Figures:
    """Return the figures of one arm."""
    trajectories, start = mean_of(needed(races, effort.target)), races[0].looks[0].success
    arrived = [late for race in races for late in race.staleness]
    seconds = sum(race.seconds for race in races)
    found = {
        "learning_rate": arm.learning_rate,
        arm.form: 1.0,
        "seconds": mean_of(times(races, effort.target, effort.limit)),
        "trajectories": trajectories,
        "points_per_100_trajectories": 1e4 * (effort.target - start) / trajectories,
        "trajectories_per_min": 60.0 * len(arrived) / seconds,
        "device_busy": sum(race.device_seconds for race in races) / (seconds * DEVICES),
        "staleness": statistics.fmean(arrived),
        "censored": censored(races, effort),
    }
    return {f"{arm.name}_{name}": value for name, value in found.items()}


def censored(races: Sequence[Race], effort: Effort) -> float:
    return float(sum(race.first(effort.target) is None for race in races))


def measure(effort: Effort, processes: int, *, tune: bool) -> Figures:
    context, seeds = multiprocessing.get_context("spawn"), range(effort.seeds)
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        runs = Runs(pool, effort)
        arms = runs.tuned() if tune else [Arm(*each, *CHOSEN[each[0]]) for each in SQUARE]
        found = runs.of(arms, seeds, effort.limit)
        pair = [replace(arm, stations=True) for arm in arms if arm.name in (OURS, THEIRS)]
        slower = {a.name: each for a, each in runs.of(pair, seeds, effort.limit).items()}
    races = {arm.name: each for arm, each in found.items()}
    figures = compared(races, effort)
    figures |= _three(
        "speedup_stations", *_both_times(slower[THEIRS], slower[OURS], effort, effort.target)
    )
    figures |= {"target": effort.target, "start": races[OURS][0].looks[0].success}
    figures["seeds"] = effort.seeds
    figures["censored"] = sum(
        censored(each, effort) for each in (*races.values(), *slower.values())
    )
    for arm in arms:
        figures |= described(arm, found[arm], effort)
    return figures


def shown(figures: Figures) -> Table:
    table = Table("figure", "value", box=None, padding=(0, 2, 0, 0))
    for name, value in figures.items():
        table.add_row(name, f"{value:.4g}")
    return table


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--quick", action="store_true")
    words.add_argument("--tune", action="store_true", help="choose forms and rates anew (8 min)")
    words.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    chosen = words.parse_args()
    begun = time.monotonic()
    figures = measure(QUICK if chosen.quick else Effort(), chosen.processes, tune=chosen.tune)
    CONSOLE.print(shown(figures), highlight=False)
    CONSOLE.print(f"{time.monotonic() - begun:.0f} s in all", highlight=False)
    if not chosen.quick:
        rounded = {name: round(value, 4) for name, value in figures.items()}
        CONSOLE.print(write_results("time-to-success", rounded))


if __name__ == "__main__":
    main()
