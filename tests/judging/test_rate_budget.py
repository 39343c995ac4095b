"""Turns and money, on a clock of the test's own."""

from __future__ import annotations

import threading

import pytest

from distrl.errors import JudgeError
from distrl.judging.rate_budget import BudgetSettings, RateBudget


class Time:
    """Passes when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> bool:
        self.now += seconds
        return False

    def budget(self, **settings: float) -> RateBudget:
        return RateBudget(
            BudgetSettings(**settings),  # type: ignore[arg-type]
            clock=lambda: self.now,
            sleep=self.sleep,
        )


def test_without_a_limit_nobody_waits() -> None:
    budget = Time().budget()
    assert [budget.take() for _ in range(5)] == [0.0] * 5


def test_turns_are_evenly_apart_after_a_burst() -> None:
    time = Time()
    budget = time.budget(requests_per_minute=30, burst=3)
    times = []
    for _ in range(6):
        budget.take()
        times.append(time.now)
    assert times == [0.0, 0.0, 0.0, 2.0, 4.0, 6.0]
    time.now = 100.0  # a pause fills the burst up, and no more than that
    for _ in range(4):
        budget.take()
    assert time.now == 102.0


def test_no_window_of_a_minute_sees_more_than_it_may() -> None:
    time = Time()
    budget = time.budget(requests_per_minute=10, burst=1)
    times = []
    for _ in range(40):
        budget.take()
        times.append(time.now)
    assert max(sum(start <= each < start + 60 for each in times) for start in times) == 10


def test_many_threads_share_the_turns() -> None:
    budget = RateBudget(BudgetSettings(requests_per_minute=6000))
    waited: list[float] = []
    threads = [threading.Thread(target=lambda: waited.append(budget.take())) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(wait > 0 for wait in waited) >= 5
    assert max(waited) < 0.11


def test_whoever_waits_when_it_is_closed_is_let_go() -> None:
    budget = RateBudget(BudgetSettings(requests_per_minute=0.1))
    budget.take()
    closing = threading.Timer(0.05, budget.close)
    closing.start()
    with pytest.raises(JudgeError, match="closed"):
        budget.take()
    closing.join()
