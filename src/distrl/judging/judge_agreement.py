"""Measure how far two judges agree: a confusion matrix, and a second judge for a sample.

`SecondOpinion` returns the first judge's verdict; `Judgement.second` has that of the second judge.
The sample depends only on seed and trajectory ids, so that judging again samples the same
trajectories. If the second judge has no verdict, `missing` counts it. Thread-safe.
"""

from __future__ import annotations

import dataclasses
import math
import random
import threading
from dataclasses import dataclass

from distrl.errors import InvalidSetting, JudgeError
from distrl.judging.judge import Judgement, TrajectoryJudge
from distrl.records import Trajectory


@dataclass(slots=True)
class Confusion:
    """A confusion matrix. Rates without any counts are NaN."""

    true_positives: int = 0
    false_positives: int = 0  # judged a success, was a failure
    false_negatives: int = 0  # judged a failure, was a success
    true_negatives: int = 0

    def count(self, *, said: bool, truly: bool) -> None:
        self.true_positives += said and truly
        self.false_positives += said and not truly
        self.false_negatives += truly and not said
        self.true_negatives += not truly and not said

    @property
    def total(self) -> int:
        right = self.true_positives + self.true_negatives
        return right + self.false_positives + self.false_negatives

    @property
    def disagreement(self) -> float:
        return _share(self.false_positives + self.false_negatives, self.total)

    @property
    def false_positive_rate(self) -> float:
        """Share of the failures that were judged a success."""
        return _share(self.false_positives, self.false_positives + self.true_negatives)

    @property
    def false_negative_rate(self) -> float:
        """Share of the successes that were judged a failure."""
        return _share(self.false_negatives, self.false_negatives + self.true_positives)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


class SecondOpinion:
    """Implements `TrajectoryJudge`. A `share` of the trajectories is judged twice."""

    def __init__(
        self, first: TrajectoryJudge, second: TrajectoryJudge, share: float, seed: int = 0
    ) -> None:
        if not 0.0 <= share <= 1.0:
            raise InvalidSetting(f"second opinion share={share!r}; give a share in [0, 1]")
        self._first = first
        self._second = second
        self._share = share
        self._seed = seed
        self._lock = threading.Lock()
        self.opinions = Confusion()  # the first judge's verdicts; the second's count as truth
        self.missing = 0  # number of times the second judge had no verdict

    def judge(self, trajectory: Trajectory) -> Judgement:
        first = self._first.judge(trajectory)
        rng = random.Random(f"second_opinion/{self._seed}/{trajectory.id}")
        if rng.random() >= self._share:
            return first
        try:
            second = self._second.judge(trajectory)
        except JudgeError:
            with self._lock:
                self.missing += 1
            return first
        with self._lock:
            self.opinions.count(said=first.verdict.success, truly=second.verdict.success)
        return dataclasses.replace(
            first,
            second=second.verdict,
            seconds=first.seconds + second.seconds,
            cost=first.cost + second.cost,
            prompt_tokens=first.prompt_tokens + second.prompt_tokens,
            answer_tokens=first.answer_tokens + second.answer_tokens,
        )
