"""Compare measured advantages with the critic's, at equal cost, on errands (`make bench-forks`).

A-RIDE plays errands (`errand_phone`) and learns, in several arms:

    critic       the critic's estimates alone
    forks_K      K continuations from a drawn step of each episode, so that the advantage is
                 measured there (`collection.forks`); needs a device with snapshots
    actions_K    K actions at a drawn step, each tried for one step, valued by reward and critic
                 (`tried_actions`: Android Coach's idea, and where this differs from it)
    matched_K    no phone is restored: attempts at one errand, K in a row, are measured against each
                 other where they show the same screen (`learning.learner.matched_screens`: the idea
                 of UI-Voyager's fork points, see `matched_screens`)
    repeated_K   the critic alone with K attempts in a row: the control for `matched_K`

Every arm has the same budget, which is measured in two ways:

- *at equal decisions* of the policy, including those of forks and of tried actions;
- *at equal device time*, the seconds of all phones together. A fork saves the reset and pays for
  its own steps; a tried action pays for its step; restoring a phone takes no time. The budget is
  what the critic alone needs for its decisions.

After each `ROUND` decisions the learner takes the same number of steps in every arm, each on as
many trajectories as make about the same number of turns (a fork has its own steps alone), so at
equal device time an arm whose decisions are cheaper learns from more of them. *Success* is that of
the learner's weights on held-out errands, computed exactly. For each arm and both measures
(`time_` for the second) there are

    final, mean         success at the end, and over the run; with the gain over the critic alone
                        (`final_gain`, `mean_gain`)
    decisions, seconds  until 60 % (three looks in a row; all of them where it was never reached,
                        counted in `censored`), and how many times as many the critic needs
                        (`speedup`; meaningless where `censored` is all seeds on both sides)

and for `matched_K` the same against `repeated_K` (`over_repeated_`), paired seed by seed, with 95 %
intervals by Student's t (`_low`, `_high`). `measured` is the share of trained turns whose advantage
was not A-RIDE's own estimate.

Learning rates are those that `time_to_success` found for the critic alone, for all arms: no other
arm was tuned. `--quick` runs a little of everything, and writes nothing.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import statistics
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor

from benchmarks.errand_network import ErrandNetwork
from benchmarks.errand_phone import ErrandJudge, ErrandPhone, ErrandTasks
from benchmarks.errand_success import success_rate
from benchmarks.results_file import make_command, write_results
from benchmarks.time_to_success import CONSOLE, STUDENT, ratio
from benchmarks.tried_actions import ActionTrier, Groups, TriedActions
from distrl.episodes.collector import Collector
from distrl.episodes.collector_settings import CollectorSettings
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import PolicyBatcher, WeightUpdater
from distrl.learning.algorithms.a_ride import ARide, ARideSettings
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.learning.learner import Learner
from distrl.learning.learner_report import LearnerReport
from distrl.learning.learner_settings import LearnerSettings
from distrl.learning.targets.rewards import RewardSettings
from distrl.records import Trajectory
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.buffer.replay_buffer import ReplayBuffer, ReplaySettings
from distrl.task_sets.curriculum import RepeatedTasks, TaskSource

Form = Literal["filtered", "signed"]
Kind = Literal["critic", "forks", "actions", "matched", "repeated"]
Measure = Literal["decisions", "seconds"]
Curve = Sequence[float]  # success at the start and after each equal part of the budget
RATES: dict[Form, float] = {"filtered": 0.01, "signed": 0.003}
TRACES: dict[Form, float] = {"filtered": 0.5, "signed": 0.95}
ARMS = (
    "critic", "forks_1", "forks_3", "actions_2", "actions_4",
    "repeated_4", "matched_1", "matched_4",
)  # fmt: skip
REWARDS = RewardSettings(status_bar=0.0)  # an errand's screen is two pixels and has no status bar
PHONES = 16
ROUND = 128  # decisions
SECONDS = 13.0  # device time of a decision, with the critic alone
UPDATES = 4  # learner steps per round
BATCH = 16  # trajectories per learner step, with the critic alone
STEPS = 8  # of an errand, on average
TARGET = 0.6
IN_A_ROW = 3


@dataclass(frozen=True, slots=True)
class Arm:
    """How advantages are used, where they come from, and how many attempts are compared."""

    form: Form
    kind: Kind = "critic"
    count: int = 0

    @classmethod
    def of(cls, form: Form, word: str) -> Arm:
        kind, _, count = word.partition("_")
        return cls(form, cast("Kind", kind), int(count or 0))

    @property
    def name(self) -> str:
        return f"{self.form}_{self.kind}_{self.count}" if self.count else f"{self.form}_{self.kind}"

    @property
    def batch(self) -> int:
        """Return the number of trajectories with about as many own turns as `BATCH` attempts."""
        branches = {"forks": self.count, "actions": self.count - 1}.get(self.kind, 0)
        share = 1 / 2 if self.kind == "forks" else 1 / STEPS  # of an attempt's turns, per branch
        return round(BATCH * (1 + branches) / (1 + branches * share))


@dataclass(frozen=True, slots=True)
class Look:
    """One evaluation of the policy, with the decisions and device seconds spent until then."""

    decisions: float
    seconds: float  # of all phones
    success: float


@dataclass(frozen=True, slots=True)
class Run:
    """The result of one seed of an arm."""

    looks: tuple[Look, ...]
    measured: float  # share of turns with a measured advantage

    def curve(self, measure: Measure, most: float) -> Curve:
        """Return success at the start and after each round's worth of `measure`, up to `most`."""
        wanted = self._rounds(measure, most)
        spent = [getattr(look, measure) for look in self.looks]
        return [
            self.looks[max(place for place, amount in enumerate(spent) if amount <= each)].success
            for each in wanted
        ]

    def _rounds(self, measure: Measure, most: float) -> list[float]:
        rounds = round(most / UNITS[measure])
        return [UNITS[measure] * place for place in range(rounds + 1)]


UNITS: dict[Measure, float] = {"decisions": float(ROUND), "seconds": ROUND * SECONDS}


class Weights:
    """Publishes the learner's weights at once. Implements `Publisher` and `WeightSource`."""

    def __init__(self) -> None:
        self._newest: tuple[Mapping[str, Tensor], int] | None = None

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None:
        self._newest = weights, version

    def newer_than(self, version: int) -> tuple[Mapping[str, Tensor], int] | None:
        return self._newest if self._newest and self._newest[1] > version else None


class Arrived:
    """Implements `TrajectorySink`: passes trajectories straight to the learner."""

    def __init__(self) -> None:
        self.waiting: deque[Trajectory] = deque()
        self.groups = Groups()
        self.decisions = 0
        self.seconds = 0.0

    def put(self, trajectory: Trajectory) -> bool:
        self.waiting.append(trajectory)
        self.groups.add(trajectory)
        self.decisions += len(trajectory.decisions) - trajectory.first_step
        self.seconds += trajectory.device_seconds
        return True


def run(arm: Arm, seed: int, decisions: int) -> Run:
    """Train and evaluate round by round until decisions and device time are both spent."""
    torch.set_num_threads(1)
    arrived, weights, policy = Arrived(), Weights(), ErrandNetwork(seed)
    learner = _learner(arm, seed, policy, arrived, weights)
    play = _player(arm, seed, arrived, weights)
    looks, measured = [Look(0.0, 0.0, success_rate(policy))], []
    while arrived.decisions < decisions or arrived.seconds < SECONDS * decisions:
        while arrived.decisions < ROUND * len(looks):
            play()
        for _ in range(UPDATES):
            report = learner.step()
            if isinstance(report, LearnerReport):
                measured.append(report.algorithm["measured_advantages"])
        spent = float(ROUND * len(looks)), arrived.seconds
        looks.append(Look(*spent, success_rate(policy)))
    return Run(tuple(looks), statistics.fmean(measured))


def _player(arm: Arm, seed: int, arrived: Arrived, weights: Weights) -> Callable[[], object]:
    """Return a function that plays one episode of the arm, with its forks or tried actions."""
    name, acting = f"forks-{seed}", ErrandNetwork(1000 + seed)
    batcher = PolicyBatcher(acting, updater=WeightUpdater(acting, weights))
    phones = [ErrandPhone(f"phone-{seed}-{number}") for number in range(PHONES)]
    source: TaskSource = ErrandTasks(name)
    if arm.kind == "actions":
        return ActionTrier(name, batcher, phones, source, arrived, arm.count - 1).play
    if arm.kind in ("matched", "repeated"):
        source = RepeatedTasks(source, arm.count)
    settings = CollectorSettings(forks=arm.count if arm.kind == "forks" else 0)
    pool = DevicePool(phones)
    collector = Collector(name, batcher, pool, source, arrived, ErrandJudge, settings=settings)
    return lambda: collector.collect(1)


def _learner(
    arm: Arm, seed: int, policy: ErrandNetwork, arrived: Arrived, weights: Weights
) -> Learner:
    rates = StepSettings(learning_rate=RATES[arm.form], critic_learning_rate=0.03)
    step = GradientStep(policy, rates)
    chosen = ARideSettings(advantage=arm.form, retrace_lambda=TRACES[arm.form])
    algorithm = ARide(step, chosen)
    if arm.kind == "actions":
        algorithm = TriedActions(step, chosen, rewards=REWARDS, groups=arrived.groups)
    settings = LearnerSettings(
        batch_trajectories=arm.batch,
        updates_per_publish=1,
        seed=seed,
        rewards=REWARDS,
        matched_screens=arm.kind == "matched",
    )
    replay = ReplayBuffer(ReplaySettings(capacity=16 * arm.batch))
    pacing = Pacing(1000.0, arm.batch)
    return Learner(policy, algorithm, step, replay, pacing, arrived.waiting, weights, settings)


# Figures -----------------------------------------------------------------------------------------


def rounds_to(curve: Curve, target: float = TARGET) -> int | None:
    """Return the rounds until success reached the target and stayed there for `IN_A_ROW` looks."""
    for place in range(len(curve) - IN_A_ROW + 1):
        if min(curve[place : place + IN_A_ROW]) >= target:
            return max(1, place)
    return None


def described(measure: Measure, curves: Sequence[Curve]) -> dict[str, float]:
    """Return the figures of one arm."""
    return {
        "final": statistics.fmean(each[-1] for each in curves),
        "mean": statistics.fmean(statistics.fmean(each) for each in curves),
        measure: statistics.geometric_mean(amounts(measure, curves)),
        "censored": float(sum(rounds_to(each) is None for each in curves)),
    }


def amounts(measure: Measure, curves: Sequence[Curve]) -> list[float]:
    return [UNITS[measure] * (rounds_to(each) or len(each) - 1) for each in curves]


def compared(measure: Measure, ours: Sequence[Curve], theirs: Sequence[Curve]) -> dict[str, float]:
    """Compare an arm with its control, in pairs; speed-ups above 1 mean the arm is faster."""
    faster = ratio(amounts(measure, theirs), amounts(measure, ours))
    final = [one[-1] - other[-1] for one, other in zip(ours, theirs, strict=True)]
    mean = [
        statistics.fmean(one) - statistics.fmean(other)
        for one, other in zip(ours, theirs, strict=True)
    ]
    return {
        **with_interval("speedup", faster),
        **with_interval("final_gain", difference(final)),
        **with_interval("mean_gain", difference(mean)),
    }


def difference(pairs: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean difference and Student's 95 % interval."""
    middle = statistics.fmean(pairs)
    wide = STUDENT[len(pairs) - 1] * statistics.stdev(pairs) / math.sqrt(len(pairs))
    return middle, middle - wide, middle + wide


def with_interval(name: str, found: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), found, strict=True))


def controls(arm: Arm) -> dict[str, Arm]:
    """Return the controls of an arm, by the prefix of their figures."""
    if arm.kind == "critic":
        return {}
    repeated = {"over_repeated_": Arm(arm.form, "repeated", arm.count)}
    return {"": Arm(arm.form)} | (repeated if arm.kind == "matched" else {})


def figures_of(runs: Mapping[Arm, Sequence[Run]], decisions: int) -> dict[str, float]:
    """Return the figures of all arms, by both measures."""
    figures: dict[str, float] = {}
    budgets: dict[Measure, float] = {"decisions": decisions, "seconds": SECONDS * decisions}
    for arm, found in runs.items():
        spent = [each.looks[-1] for each in found]
        figures[f"{arm.name}_measured"] = statistics.fmean(each.measured for each in found)
        figures[f"{arm.name}_seconds_per_decision"] = statistics.fmean(
            look.seconds / look.decisions for look in spent
        )
        for measure, most in budgets.items():
            curves = [each.curve(measure, most) for each in found]
            shown = described(measure, curves)
            for name, other in controls(arm).items():
                if other in runs:
                    control = [each.curve(measure, most) for each in runs[other]]
                    gained = compared(measure, curves, control)
                    shown |= {name + figure: value for figure, value in gained.items()}
            prefix = f"{arm.name}_time" if measure == "seconds" else arm.name
            figures |= {f"{prefix}_{name}": value for name, value in shown.items()}
    return figures


def measure_arms(
    seeds: int, decisions: int, words: Sequence[str], processes: int
) -> dict[str, float]:
    arms = [Arm.of(form, word) for form in RATES for word in dict.fromkeys(("critic", *words))]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        asked = {
            arm: [pool.submit(run, arm, 400 + seed, decisions) for seed in range(seeds)]
            for arm in arms
        }
        runs = {arm: [each.result() for each in found] for arm, found in asked.items()}
    figures = {"seeds": float(seeds), "decisions": float(decisions), "target": TARGET}
    figures["device_seconds"] = SECONDS * decisions
    return figures | figures_of(runs, decisions)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--quick", action="store_true")
    words.add_argument("--seeds", type=int, default=5)
    words.add_argument("--decisions", type=int, default=4_096)
    words.add_argument("--arms", nargs="+", default=list(ARMS))
    words.add_argument("--processes", type=int, default=2)
    chosen = words.parse_args()
    seeds, decisions = (2, 1_024) if chosen.quick else (chosen.seeds, chosen.decisions)
    figures = measure_arms(seeds, decisions, chosen.arms, chosen.processes)
    for name, value in figures.items():
        CONSOLE.print(f"{name:46} {value:.4g}", highlight=False)
    if not chosen.quick:
        rounded = {name: round(value, 4) for name, value in figures.items()}
        CONSOLE.print(write_results("forks", rounded, make_command("bench-forks")))


if __name__ == "__main__":
    main()
