"""A judge with given error rates, to measure the effect of judge errors on training.

It flips another judge's verdicts: a failure becomes a success with probability `false_positive`, a
success a failure with `false_negative`. The draw is seeded by the trajectory's id, so that judging
a trajectory again gives the same verdict.
"""

from __future__ import annotations

import dataclasses
import random

from distrl.errors import InvalidSetting, JudgeError
from distrl.judging.judge import Judgement, TrajectoryJudge
from distrl.records import Trajectory, Verdict


class StoredVerdicts:
    """Implements `TrajectoryJudge`: returns the verdict that the trajectory carries."""

    def judge(self, trajectory: Trajectory) -> Judgement:
        if trajectory.verdict is None:
            raise JudgeError(
                f"trajectory {trajectory.id} ended with {trajectory.ending.value}: it carries no "
                "verdict"
            )
        return Judgement(trajectory.verdict)


class NoisyJudge:
    """Implements `TrajectoryJudge`: flips some verdicts of another judge."""

    def __init__(
        self,
        judge: TrajectoryJudge,
        *,
        false_positive: float = 0.0,
        false_negative: float = 0.0,
        seed: int | str = 0,
    ) -> None:
        if not (0.0 <= false_positive <= 1.0 and 0.0 <= false_negative <= 1.0):
            raise InvalidSetting(
                f"false_positive={false_positive!r}, false_negative={false_negative!r}; give "
                "probabilities in [0, 1]"
            )
        self._judge = judge
        self._false_positive = false_positive
        self._false_negative = false_negative
        self._seed = seed

    def judge(self, trajectory: Trajectory) -> Judgement:
        right = self._judge.judge(trajectory)
        success = right.verdict.success
        error_rate = self._false_negative if success else self._false_positive
        drawn = random.Random(f"noisy_judge/{self._seed}/{trajectory.id}").random()
        if drawn >= error_rate:
            return right
        wrong = Verdict(not success, "flipped on purpose", f"noisy/{right.verdict.judge}")
        return dataclasses.replace(right, verdict=wrong)
