"""Are measured advantages worth their decisions? `make bench-forks` answers, on errands.

A-RIDE plays errands (`errand_phone`) and learns, once with the critic alone and once with forks: k
continuations from a step of each episode, so that the advantage is measured there. Everything
is counted in *decisions of the policy*, those of forks among them, so that nobody is given more:

- after each `ROUND` decisions the learner takes the same number of steps in every arm, each on as
  many trajectories as make about the same number of turns (a fork has its own steps alone);
- *success* is that of the learner's weights on held-out errands, computed exactly;
- shown are success after all decisions, its mean over the run, and the decisions to 60 % (three
  looks in a row; all of them where it was never reached, counted in `censored`), for each arm, and
  ratios to the arm without forks, seed by seed, with 95 % intervals.

Learning rates are those that `time_to_success` found without forks, for all arms: forks were not
tuned. `--quick` runs a little of everything, and writes nothing.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import statistics
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from benchmarks.errand_network import ErrandNetwork
from benchmarks.errand_phone import ErrandJudge, ErrandPhone, ErrandTasks
from benchmarks.errand_success import success_rate
from benchmarks.results_file import write_results
from benchmarks.time_to_success import CONSOLE, ratio
from distrl.episodes.collector import Collector
from distrl.episodes.collector_settings import CollectorSettings
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import PolicyBatcher, WeightUpdater
from distrl.learning.algorithms.a_ride import ARide, ARideSettings
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.learning.learner import Learner
from distrl.learning.learner_settings import LearnerSettings
from distrl.records import Trajectory
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.buffer.replay_buffer import ReplayBuffer, ReplaySettings

Form = Literal["filtered", "signed"]
RATES: dict[Form, float] = {"filtered": 0.01, "signed": 0.003}
TRACES: dict[Form, float] = {"filtered": 0.5, "signed": 0.95}
PHONES = 16
ROUND = 128  # decisions
UPDATES = 4  # for each round
BATCH = 16  # trajectories without forks
TARGET = 0.6
IN_A_ROW = 3


@dataclass(frozen=True, slots=True)
class Arm:
    """How advantages are used, and how many continuations there are."""

    form: Form
    forks: int

    @property
    def name(self) -> str:
        return f"{self.form}_forks_{self.forks}"

    @property
    def batch(self) -> int:
        """Trajectories with about as many turns of their own: a fork leaves half of them out."""
        return round(BATCH * (1 + self.forks) / (1 + self.forks / 2))


class Weights:
    """The learner's weights, out at once. Implements `Publisher` and `WeightSource`."""

    def __init__(self) -> None:
        self._newest: tuple[Mapping[str, Tensor], int] | None = None

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None:
        self._newest = weights, version

    def newer_than(self, version: int) -> tuple[Mapping[str, Tensor], int] | None:
        return self._newest if self._newest and self._newest[1] > version else None


class Arrived:
    """Implements `TrajectorySink`: straight to the learner."""

    def __init__(self) -> None:
        self.waiting: deque[Trajectory] = deque()
        self.decisions = 0

    def put(self, trajectory: Trajectory) -> bool:
        self.waiting.append(trajectory)
        self.decisions += len(trajectory.decisions) - trajectory.first_step
        return True


def run(arm: Arm, seed: int, decisions: int) -> list[float]:
    """Success after each round of decisions."""
    torch.set_num_threads(1)
    arrived, weights, policy = Arrived(), Weights(), ErrandNetwork(seed)
    learner = _learner(arm, seed, policy, arrived, weights)
    acting = ErrandNetwork(1000 + seed)
    collector = Collector(
        f"forks-{seed}",
        PolicyBatcher(acting, updater=WeightUpdater(acting, weights)),
        DevicePool([ErrandPhone(f"phone-{seed}-{number}") for number in range(PHONES)]),
        ErrandTasks(f"forks-{seed}"),
        arrived,
        ErrandJudge,
        settings=CollectorSettings(forks=arm.forks),
    )
    success = [success_rate(policy)]
    for played in range(ROUND, decisions + 1, ROUND):
        while arrived.decisions < played:
            collector.collect(1)
        for _ in range(UPDATES):
            learner.step()
        success.append(success_rate(policy))
    return success


def _learner(
    arm: Arm, seed: int, policy: ErrandNetwork, arrived: Arrived, weights: Weights
) -> Learner:
    rates = StepSettings(learning_rate=RATES[arm.form], critic_learning_rate=0.03)
    step = GradientStep(policy, rates)
    settings = ARideSettings(advantage=arm.form, retrace_lambda=TRACES[arm.form])
    return Learner(
        policy,
        ARide(step, settings),
        step,
        ReplayBuffer(ReplaySettings(capacity=16 * arm.batch)),
        Pacing(1000.0, arm.batch),
        arrived.waiting,
        weights,
        LearnerSettings(batch_trajectories=arm.batch, updates_per_publish=1, seed=seed),
    )


# What it comes to --------------------------------------------------------------------------------


def decisions_to(success: Sequence[float], target: float = TARGET) -> float | None:
    """Decisions until success was there, and stayed for a few looks."""
    for place in range(len(success) - IN_A_ROW + 1):
        if min(success[place : place + IN_A_ROW]) >= target:
            return float(max(1, place) * ROUND)
    return None


def described(arm: Arm, runs: Sequence[Sequence[float]]) -> dict[str, float]:
    reached = [decisions_to(each) for each in runs]
    return {
        f"{arm.name}_{name}": value
        for name, value in {
            "final": statistics.fmean(each[-1] for each in runs),
            "mean": statistics.fmean(statistics.fmean(each) for each in runs),
            "decisions": statistics.geometric_mean(times(runs)),
            "censored": float(sum(each is None for each in reached)),
        }.items()
    }


def times(runs: Sequence[Sequence[float]]) -> list[float]:
    return [decisions_to(each) or float((len(each) - 1) * ROUND) for each in runs]


def compared(
    arm: Arm, ours: Sequence[Sequence[float]], alone: Sequence[Sequence[float]]
) -> dict[str, float]:
    """The critic's decisions over those with forks: above 1, forks needed fewer."""
    middle, low, high = ratio(times(alone), times(ours))
    gain = [
        statistics.fmean(one) - statistics.fmean(other)
        for one, other in zip(ours, alone, strict=True)
    ]
    found = {"speedup": middle, "speedup_low": low, "speedup_high": high}
    found["mean_gain"] = statistics.fmean(gain)
    found["mean_gain_error"] = statistics.stdev(gain) / math.sqrt(len(gain))
    return {f"{arm.name}_{name}": value for name, value in found.items()}


def measure(seeds: int, decisions: int, forks: Sequence[int], processes: int) -> dict[str, float]:
    arms = [Arm(form, count) for form in RATES for count in forks]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        asked = {
            arm: [pool.submit(run, arm, 400 + seed, decisions) for seed in range(seeds)]
            for arm in arms
        }
        runs = {arm: [each.result() for each in found] for arm, found in asked.items()}
    figures = {"seeds": float(seeds), "decisions": float(decisions), "target": TARGET}
    for arm, found in runs.items():
        figures |= described(arm, found)
        if arm.forks:
            figures |= compared(arm, found, runs[Arm(arm.form, 0)])
    return figures


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--quick", action="store_true")
    words.add_argument("--seeds", type=int, default=5)
    words.add_argument("--decisions", type=int, default=24_000)
    words.add_argument("--forks", type=int, nargs="+", default=[0, 1, 3])
    words.add_argument("--processes", type=int, default=2)
    chosen = words.parse_args()
    seeds, decisions = (2, 1_024) if chosen.quick else (chosen.seeds, chosen.decisions)
    figures = measure(seeds, decisions, chosen.forks, chosen.processes)
    for name, value in figures.items():
        CONSOLE.print(f"{name:38} {value:.4g}", highlight=False)
    if not chosen.quick:
        rounded = {name: round(value, 4) for name, value in figures.items()}
        CONSOLE.print(write_results("forks", rounded))


if __name__ == "__main__":
    main()
