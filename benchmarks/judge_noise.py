"""Measure how judge errors reduce success, method by method (`make bench-judge-noise`).

Each method trains on the small world, whose success rates are known exactly, as in
`benchmarks/staleness.py`: from a policy that mostly goes the wrong way, with fresh data for every
update, four attempts at each of four tasks. A `NoisyJudge` changes the verdicts first: it calls a
share of the failures a success (FP) and a share of the successes a failure (FN), from 0 to 10 %.
The figures are the true success rate of the trained policy, by dynamic programming: means over
seeds with 95 % bootstrap intervals, and the loss against a judge without errors, seed by seed.

Learning rates are those that `make bench-staleness` chose with exact verdicts; nothing is tuned to
the noise. `--quick` runs everything briefly as a smoke test, and writes nothing.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from benchmarks.noisy_judge import NoisyJudge, StoredVerdicts
from benchmarks.results_file import write_results
from benchmarks.small_world import REWARDS, old_policy
from benchmarks.staleness import (
    ATTEMPTS,
    CRITIC_RATE,
    EVERYTHING,
    METHODS,
    Figures,
    Method,
    attempts,
    best_success,
    bootstrap_interval,
    success,
)
from distrl.judging.judge import judged
from distrl.judging.judge_agreement import Confusion
from distrl.learning.batch import batch_of
from distrl.learning.gradient_step import GradientStep, StepSettings

RATES = {"a_ride": 0.2, "grpo": 0.2, "digirl": 0.2, "filtered_bc": 0.4}
SHARES = (0.02, 0.05, 0.1)
CONSOLE = Console(width=150)


@dataclass(frozen=True)
class Noise:
    """The error rates of the judge."""

    name: str
    false_positive: float = 0.0
    false_negative: float = 0.0


NOISES = (
    Noise("exact"),
    *(Noise(f"fp_{100 * share:.0f}", false_positive=share) for share in SHARES),
    *(Noise(f"fn_{100 * share:.0f}", false_negative=share) for share in SHARES),
    *(Noise(f"both_{100 * share:.0f}", share, share) for share in SHARES),
)


@dataclass(frozen=True)
class Effort:
    """The effort spent on each figure."""

    seeds: int = 8
    updates: int = 80


QUICK = Effort(seeds=2, updates=2)


def train(method: Method, noise: Noise, seed: str, updates: int, counted: Confusion) -> float:
    """Train once under a noisy judge; return the true success rate of the trained policy."""
    policy, actor = old_policy(), old_policy()
    step = StepSettings(
        learning_rate=RATES[method.name],
        critic_learning_rate=CRITIC_RATE,
        micro_batch_turns=EVERYTHING,
        micro_batch_tokens=EVERYTHING,
    )
    algorithm = method.make(GradientStep(policy, step))
    for update in range(updates):
        actor.load_weights(policy.weights(), version=update)
        name = f"{seed}/{update}"
        judge = NoisyJudge(
            StoredVerdicts(),
            false_positive=noise.false_positive,
            false_negative=noise.false_negative,
            seed=name,
        )
        data = []
        for number, attempt in enumerate(attempts(actor, ATTEMPTS, name)):
            episode = replace(attempt, id=f"{name}/{number}")  # the judge draws its errors by id
            verdict = judge.judge(episode).verdict
            data.append(judged(episode, verdict))
            counted.count(said=verdict.success, truly=episode.success)
        algorithm.update(batch_of(data, REWARDS))
    return success(policy)


def race(method: Method, effort: Effort) -> Figures:
    begun = time.process_time()
    seeds = [f"judge_noise/{number}" for number in range(effort.seeds)]
    figures: Figures = {}
    exact: list[float] = []
    for noise in NOISES:
        counted = Confusion()
        rates = [train(method, noise, seed, effort.updates, counted) for seed in seeds]
        exact = exact or rates
        name = f"{method.name}_{noise.name}"
        low, high = bootstrap_interval(rates)
        figures |= {name: float(np.mean(rates)), f"{name}_low": low, f"{name}_high": high}
        lost = [before - after for before, after in zip(exact, rates, strict=True)]
        low, high = bootstrap_interval(lost)
        figures |= {f"{name}_lost": float(np.mean(lost))}
        figures |= {f"{name}_lost_low": low, f"{name}_lost_high": high}
        figures |= {f"{name}_measured_fp": counted.false_positive_rate}
        figures |= {f"{name}_measured_fn": counted.false_negative_rate}
    taken = time.process_time() - begun
    CONSOLE.print(f"{method.label}: {taken:.0f} s of one core", highlight=False)
    return figures


def table(figures: Figures, methods: list[Method]) -> Table:
    shown = Table(
        title="True success after training, % (points lost to an exact judge, 95 % interval)",
        title_justify="left",
    )
    shown.add_column("judge")
    for method in methods:
        shown.add_column(method.label, justify="right")
    for noise in NOISES:
        errors = f"FP {noise.false_positive:.0%}, FN {noise.false_negative:.0%}"
        cells = (_cell(figures, f"{method.name}_{noise.name}") for method in methods)
        shown.add_row("exact" if noise is NOISES[0] else errors, *cells)
    return shown


def _cell(figures: Figures, name: str) -> str:
    rate, lost, low, high = (
        100 * figures[f"{name}{end}"] for end in ("", "_lost", "_lost_low", "_lost_high")
    )
    if name.endswith("_exact"):
        return f"{rate:.1f}"
    return f"{rate:.1f} ({lost:.1f}; {low:.1f} to {high:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only see that everything runs")
    quick = parser.parse_args().quick
    effort = QUICK if quick else Effort()
    torch.set_num_threads(1)
    methods = [method for method in METHODS if method.name in RATES]
    figures: Figures = {
        "start": success(old_policy()),
        "best": best_success(),
        "seeds": effort.seeds,
        "updates": effort.updates,
    }
    for method in methods:
        figures |= race(method, effort)
    CONSOLE.print(table(figures, methods))
    CONSOLE.print(f"start {figures['start']:.3f}, best {figures['best']:.3f}", highlight=False)
    if not quick:
        CONSOLE.print(f"written to {write_results('judge-noise', figures)}", highlight=False)


if __name__ == "__main__":
    main()
