"""The outcomes of an evaluation, and the success rate with its confidence interval.

An episode that a fault ended (a lost device, for example) has no verdict, so it counts neither for
nor against the agent; it is reported separately.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from distrl.records import Ending, Task, Trajectory, Unreadable

NORMAL_95 = 1.959964  # the 97.5 % quantile of the normal distribution


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one episode. `unreadable` counts the steps whose answer could not be read."""

    task: Task
    ending: Ending
    steps: int
    reason: str
    unreadable: int = 0
    weight_version: int = 0
    progress: float | None = None  # of the wanted facts, where the judge knows


def outcome_of(trajectory: Trajectory) -> Outcome:
    verdict = trajectory.verdict
    return Outcome(
        task=trajectory.task,
        ending=trajectory.ending,
        steps=len(trajectory.decisions),
        reason=verdict.reason if verdict else " ".join(trajectory.notes),
        unreadable=sum(isinstance(d.action, Unreadable) for d in trajectory.decisions),
        weight_version=trajectory.weight_version,
        progress=verdict.progress if verdict else None,
    )


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
        low, high = max(0.0, middle - half), min(1.0, middle + half)
        return min(low, self.rate), max(high, self.rate)  # rounding may leave the rate outside

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.rate:6.1%}  [{low:.1%}, {high:.1%}]"


@dataclass(frozen=True, slots=True)
class PairedGain:
    """How success on the same tasks changed from one evaluation to another."""

    tasks: int  # judged in both
    gained: int  # failed in the first, done in the second
    lost: int  # the other way round

    @property
    def difference(self) -> float:
        return (self.gained - self.lost) / self.tasks if self.tasks else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 %, by Agresti and Min (2005): half a task is added to each of the four cells."""
        n, gained, lost = self.tasks + 2, self.gained + 0.5, self.lost + 0.5
        middle = (gained - lost) / n
        half = NORMAL_95 * math.sqrt(gained + lost - (gained - lost) ** 2 / n) / n
        return max(-1.0, middle - half), min(1.0, middle + half)

    @property
    def significant(self) -> bool:
        """Whether the interval excludes 0."""
        low, high = self.interval
        return low > 0.0 or high < 0.0


def paired_gain(before: Mapping[str, bool], after: Mapping[str, bool]) -> PairedGain:
    """Compare successes by task id, on the tasks that both have."""
    both = before.keys() & after.keys()
    return PairedGain(
        tasks=len(both),
        gained=sum(after[task] and not before[task] for task in both),
        lost=sum(before[task] and not after[task] for task in both),
    )


def success_rate(outcomes: Iterable[Outcome]) -> SuccessRate:
    judged = [outcome for outcome in outcomes if outcome.ending.judged]
    return SuccessRate(sum(o.ending is Ending.SUCCESS for o in judged), len(judged))


def endings(outcomes: Iterable[Outcome]) -> Counter[Ending]:
    return Counter(outcome.ending for outcome in outcomes)
