"""A judge that errs at given rates, the same way each time."""

from __future__ import annotations

import dataclasses
import math

import pytest
from benchmarks.noisy_judge import NoisyJudge, StoredVerdicts
from tests.judging.judge_server import played

from distrl.errors import InvalidSetting, JudgeError
from distrl.judging.judge_agreement import Confusion
from distrl.records import Trajectory, Verdict

SIGMAS = 4.0  # a deviation that happens once in 16,000 runs, and never with these seeds


def close(share: float, expected: float, count: int) -> bool:
    return abs(share - expected) <= SIGMAS * math.sqrt(expected * (1.0 - expected) / count)


def judged_episode(number: int, *, success: bool) -> Trajectory:
    return dataclasses.replace(played(f"{number}"), verdict=Verdict(success, "", "facts"))


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.5, 1.0])
def test_the_noisy_judge_errs_as_often_as_it_is_told_to(rate: float) -> None:
    count = 1500
    judge = NoisyJudge(StoredVerdicts(), false_positive=rate, false_negative=rate / 2)
    confusion = Confusion()
    for number in range(count):
        for success in (True, False):
            said = judge.judge(judged_episode(number, success=success)).verdict
            confusion.count(said=said.success, truly=success)
            assert said.judge.startswith("noisy") == (said.success is not success)
    assert close(confusion.false_positive_rate, rate, count)
    assert close(confusion.false_negative_rate, rate / 2, count)


def test_it_does_not_change_its_mind() -> None:
    judge = NoisyJudge(StoredVerdicts(), false_positive=0.5)
    episodes = [judged_episode(number, success=False) for number in range(20)]
    first = [judge.judge(each).verdict.success for each in episodes]
    assert first == [judge.judge(each).verdict.success for each in reversed(episodes)][::-1]
    assert set(first) == {True, False}


def test_it_makes_up_nothing_and_refuses_nonsense() -> None:
    with pytest.raises(JudgeError, match="awaiting_verdict"):
        StoredVerdicts().judge(played())
    with pytest.raises(InvalidSetting, match=r"false_positive=1\.5"):
        NoisyJudge(StoredVerdicts(), false_positive=1.5)
