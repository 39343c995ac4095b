"""How good is an agent? Episodes over many tasks, counted, with intervals.

An episode that the world broke (a lost device, say) has no verdict, so it counts neither for nor
against the agent; it is reported beside the rate.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from distrl.agent.policy import Policy
from distrl.agent.simple_policies import DonePolicy, IdlePolicy, MonkeyPolicy
from distrl.devices.simulated.simulated_device import SimulatedDevice
from distrl.episodes.demonstrations import ScriptedPolicy
from distrl.episodes.episode import run_episode
from distrl.records import Ending, Task, Trajectory
from distrl.tasks.judge import FactJudge

NORMAL_95 = 1.959964  # the 97.5 % quantile of the normal distribution


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is kept of an episode: how it ended, after how many steps."""

    task: Task
    ending: Ending
    steps: int
    reason: str


@dataclass(frozen=True, slots=True)
class SuccessRate:
    """A share of successes with its 95 % interval (Wilson)."""

    successes: int
    episodes: int

    @property
    def rate(self) -> float:
        return self.successes / self.episodes if self.episodes else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        if not self.episodes:
            return 0.0, 1.0
        n, z = self.episodes, NORMAL_95
        middle = (self.rate + z * z / (2 * n)) / (1 + z * z / n)
        half = (
            z / (1 + z * z / n) * math.sqrt(self.rate * (1 - self.rate) / n + z * z / (4 * n * n))
        )
        return max(0.0, middle - half), min(1.0, middle + half)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.rate:6.1%}  [{low:.1%}, {high:.1%}]"


def success_rate(outcomes: Iterable[Outcome]) -> SuccessRate:
    judged = [outcome for outcome in outcomes if outcome.ending.judged]
    return SuccessRate(sum(o.ending is Ending.SUCCESS for o in judged), len(judged))


def endings(outcomes: Iterable[Outcome]) -> Counter[Ending]:
    return Counter(outcome.ending for outcome in outcomes)


PolicyFor = Callable[[Task, SimulatedDevice, FactJudge], Policy]

SIMPLE_AGENTS: dict[str, PolicyFor] = {
    "scripted": lambda task, device, judge: ScriptedPolicy(device, judge),
    "idle": lambda task, device, judge: IdlePolicy(),
    "done": lambda task, device, judge: DonePolicy(),
    "monkey": lambda task, device, judge: MonkeyPolicy(task.seed),
}


def evaluate(
    tasks: Iterable[Task],
    policy_for: PolicyFor,
    device: SimulatedDevice,
    *,
    stop_on_success: bool = False,
    seen: Callable[[Trajectory], None] = lambda trajectory: None,
) -> list[Outcome]:
    """One episode for each task; `seen` gets every trajectory as it ends."""
    outcomes = []
    for task in tasks:
        judge = FactJudge(device)
        policy = policy_for(task, device, judge)
        trajectory = run_episode(task, device, policy, judge, stop_on_success=stop_on_success)
        seen(trajectory)
        reason = trajectory.verdict.reason if trajectory.verdict else " ".join(trajectory.notes)
        outcomes.append(Outcome(task, trajectory.ending, len(trajectory.decisions), reason))
    return outcomes
