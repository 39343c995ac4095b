"""Measure how old data reduces success, method by method (`make bench-staleness`).

Each method trains on the small world, whose success rates are known exactly, from a pretrained
policy that mostly goes the wrong way. The data of update u is made by the learner's own policy of
`lag` updates ago (by the first one, until there are so many), as happens when weights are published
late or episodes are long: 16 trajectories an update, four attempts at each of the four tasks, the
same number for every method. *Offline* is the extreme case: one corpus, recorded once by the first
policy and replayed to every method in the same order. The figures are the success rate of the
trained policy, by dynamic programming: means over seeds with 95 % bootstrap intervals.

A method has its defaults except for three things. All that have a discount have the same one.
A-RIDE's invalid-action term is off, so that only the handling of old data differs. And the learning
rate is chosen for each method by one rule before the comparison, at lag 0 and with other seeds: the
smallest of a fixed grid whose success is within a hundredth of the best. Nothing is tuned on old
data.

`--quick` runs every method and setting briefly as a smoke test, and writes nothing.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from benchmarks.line_chart import Line, LineChart, Point
from benchmarks.results_file import write_results
from benchmarks.small_world import (
    REWARDS,
    SmallWorld,
    Solution,
    action_probabilities,
    old_policy,
)
from benchmarks.tabular_policy import TabularPolicy
from distrl.learning.algorithms.a_ride import ARide, ARideSettings
from distrl.learning.algorithms.algorithm import Algorithm
from distrl.learning.algorithms.clipped_objective import ClipSettings
from distrl.learning.algorithms.digirl import Digirl
from distrl.learning.algorithms.filtered_bc import FilteredBc
from distrl.learning.algorithms.grpo import Grpo
from distrl.learning.algorithms.ppo import Ppo, PpoSettings
from distrl.learning.algorithms.vtrace import VTraceActorCritic, VTraceSettings
from distrl.learning.batch import Batch, batch_of
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.records import Trajectory

LAGS = (0, 1, 2, 4, 8, 16, 32)
SETTINGS = (*(f"lag_{lag}" for lag in LAGS), "offline")
ATTEMPTS = 4  # at each task, per update
CORPUS = 100  # attempts at each task, offline
GRID = (0.05, 0.1, 0.2, 0.4)
CLOSE_ENOUGH = 0.01
CRITIC_RATE = 0.05
DISCOUNT = 0.95
EVERYTHING = 10**6  # so that a batch fits into one micro-batch
WORLD = SmallWorld()
SOLUTION = Solution(discount=DISCOUNT)
PLOT = Path("out/staleness.png")
CONSOLE = Console(width=150)
Figures = dict[str, float]


@dataclass(frozen=True)
class Effort:
    """The effort spent on each figure."""

    seeds: int = 10
    grid_seeds: int = 5
    updates: int = 80


QUICK = Effort(seeds=2, grid_seeds=1, updates=2)


@dataclass(frozen=True)
class Method:
    """A training method, and its label and colour in the chart."""

    name: str
    label: str
    colour: str
    make: Callable[[GradientStep], Algorithm]


# Signed advantages: the committed figures were measured with them.
CORRECTED = ARideSettings(discount=DISCOUNT, invalid_weight=0.0, advantage="signed")
UNCORRECTED = replace(CORRECTED, ratio_level="none")
DECOUPLED = PpoSettings(discount=DISCOUNT, objective=ClipSettings(decoupled=True))
METHODS = (
    Method("a_ride", "A-RIDE", "#c2185b", lambda step: ARide(step, CORRECTED)),
    Method(
        "a_ride_uncorrected", "A-RIDE, no correction", "#f06292", lambda s: ARide(s, UNCORRECTED)
    ),
    Method(
        "vtrace",
        "V-trace",
        "#1565c0",
        lambda s: VTraceActorCritic(s, VTraceSettings(discount=DISCOUNT)),
    ),
    Method("ppo", "PPO", "#ef6c00", lambda step: Ppo(step, PpoSettings(discount=DISCOUNT))),
    Method("ppo_decoupled", "PPO, decoupled", "#f9a825", lambda step: Ppo(step, DECOUPLED)),
    Method("grpo", "GRPO", "#6a1b9a", Grpo),
    Method("digirl", "DigiRL", "#2e7d32", Digirl),
    Method("filtered_bc", "filtered BC", "#616161", FilteredBc),
)


# Data --------------------------------------------------------------------------------------------


def attempts(policy: TabularPolicy, count: int, seed: str) -> list[Trajectory]:
    """Play `count` attempts at each task; the moves of each attempt have their own seed."""
    policy.seed(seed)
    return [
        WORLD.episode(policy, task, random.Random(f"{seed}/{task.id}/{number}"), f"{seed}/{number}")
        for task in WORLD.tasks
        for number in range(count)
    ]


def delayed(policy: TabularPolicy, lag: int, seed: str, updates: int) -> Iterator[Batch]:
    """Yield fresh data for each update, made by the policy of `lag` updates ago."""
    actor = old_policy()
    past = deque([policy.weights()], maxlen=lag + 1)
    for update in range(updates):
        actor.load_weights(past[0], version=max(0, update - lag))
        yield batch_of(attempts(actor, ATTEMPTS, f"{seed}/{update}"), REWARDS)
        past.append(policy.weights())


@cache
def recorded(seed: str, updates: int) -> tuple[Batch, ...]:
    """Draw the data of all updates from a corpus that the first policy made."""
    corpus = attempts(old_policy(), CORPUS, f"{seed}/corpus")
    rng = random.Random(f"{seed}/draws")
    of_task = [corpus[start : start + CORPUS] for start in range(0, len(corpus), CORPUS)]
    return tuple(
        batch_of([one for every in of_task for one in rng.sample(every, ATTEMPTS)], REWARDS)
        for _ in range(updates)
    )


# Runs --------------------------------------------------------------------------------------------


def final_success(
    method: Method, setting: str, seed: str, learning_rate: float, updates: int
) -> float:
    """Train once; return the exact success rate of the trained policy."""
    policy = old_policy()
    step = StepSettings(
        learning_rate=learning_rate,
        critic_learning_rate=CRITIC_RATE,
        micro_batch_turns=EVERYTHING,
        micro_batch_tokens=EVERYTHING,
    )
    algorithm = method.make(GradientStep(policy, step))
    if setting == "offline":
        data: Iterable[Batch] = recorded(seed, updates)
    else:
        data = delayed(policy, int(setting.removeprefix("lag_")), seed, updates)
    for batch in data:
        algorithm.update(batch)
    return success(policy)


def success(policy: TabularPolicy) -> float:
    return SOLUTION.success_rate(action_probabilities(policy))


def best_success() -> float:
    """Return the success rate of the best policy that knows how many steps are left."""
    rates = np.zeros(len(SOLUTION.rewards))
    for _ in range(SOLUTION.step_limit):
        rates = (SOLUTION.rewards + SOLUTION.transitions @ rates).max(1)
    return float(np.mean([rates[task.seed] for task in WORLD.tasks]))


def chosen_rate(method: Method, effort: Effort) -> float:
    """Return the smallest learning rate whose success at lag 0 is close to the best."""

    def mean(rate: float) -> float:
        seeds = [f"grid/{number}" for number in range(effort.grid_seeds)]
        runs = [final_success(method, "lag_0", seed, rate, effort.updates) for seed in seeds]
        return float(np.mean(runs))

    means = {rate: mean(rate) for rate in GRID}
    return min(rate for rate in GRID if means[rate] >= max(means.values()) - CLOSE_ENOUGH)


def race(method: Method, effort: Effort) -> Figures:
    begun = time.process_time()
    rate = chosen_rate(method, effort)
    seeds = [f"race/{number}" for number in range(effort.seeds)]
    figures: Figures = {f"{method.name}_learning_rate": rate}
    for setting in SETTINGS:
        rates = [final_success(method, setting, seed, rate, effort.updates) for seed in seeds]
        name = f"{method.name}_{setting}"
        low, high = bootstrap_interval(rates)
        figures |= {name: float(np.mean(rates)), f"{name}_low": low, f"{name}_high": high}
    taken = time.process_time() - begun
    CONSOLE.print(
        f"{method.label}: learning rate {rate}, {taken:.0f} s of one core", highlight=False
    )
    return figures


def bootstrap_interval(numbers: list[float], resamples: int = 10_000) -> tuple[float, float]:
    """Return the 95 % percentile interval of the mean."""
    rng = np.random.default_rng(0)
    means = rng.choice(numbers, (resamples, len(numbers))).mean(1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


# Report ------------------------------------------------------------------------------------------


def table(figures: Figures) -> Table:
    shown = Table(title="Final success rate, % (95 % interval)", title_justify="left")
    shown.add_column("method")
    for setting in SETTINGS:
        shown.add_column(setting.replace("_", " "), justify="right")
    for method in METHODS:
        cells = (_cell(figures, f"{method.name}_{setting}") for setting in SETTINGS)
        shown.add_row(method.label, *cells)
    return shown


def _cell(figures: Figures, name: str) -> str:
    mean, low, high = (100 * figures[f"{name}{end}"] for end in ("", "_low", "_high"))
    return f"{mean:.1f} ({low:.0f}–{high:.0f})"


def chart(figures: Figures, effort: Effort) -> LineChart:
    lines = [
        Line(method.label, method.colour, [_point(figures, method, each) for each in SETTINGS])
        for method in METHODS
    ]
    return LineChart(
        title="What old data costs: success after training, by the age of the data",
        subtitle=f"small world, {effort.updates} updates from a policy that succeeds in "
        f"{100 * figures['start']:.0f} %; {effort.seeds} seeds, bars are 95 % intervals",
        axis="age of the data, in updates of the policy",
        places=[setting.removeprefix("lag_") for setting in SETTINGS],
        lines=lines,
        marks={"best possible": figures["best"]},
        floor=0.4,
        apart=1,
    )


def _point(figures: Figures, method: Method, setting: str) -> Point:
    name = f"{method.name}_{setting}"
    return Point(figures[name], figures[f"{name}_low"], figures[f"{name}_high"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only see that everything runs")
    quick = parser.parse_args().quick
    effort = QUICK if quick else Effort()
    torch.set_num_threads(1)
    begun = time.process_time()
    start, best = success(old_policy()), best_success()
    figures: Figures = {"start": start, "best": best, "seeds": effort.seeds}
    for method in METHODS:
        figures |= race(method, effort)
    CONSOLE.print(table(figures))
    CONSOLE.print(
        f"start {figures['start']:.3f}, best {figures['best']:.3f}; "
        f"{time.process_time() - begun:.0f} s of one core in all",
        highlight=False,
    )
    if quick:
        return
    PLOT.parent.mkdir(exist_ok=True)
    chart(figures, effort).draw().save(PLOT)
    CONSOLE.print(f"drawn to {PLOT}", highlight=False)
    CONSOLE.print(f"written to {write_results('staleness', figures)}", highlight=False)


if __name__ == "__main__":
    main()
