"""How often something may be restarted, and after which pause."""

from __future__ import annotations

from distrl.engine.supervision.restart_budget import (
    LEAST_SILENCE,
    MAX_PAUSE,
    SILENT_HEARTBEATS,
    WINDOW,
    RestartBudget,
    patience_of,
)


def test_pauses_grow_until_it_is_given_up() -> None:
    budget = RestartBudget(most=3)
    assert [budget.pause_after_failure(t) for t in (0.0, 1.0, 2.0)] == [0.25, 0.5, 1.0]
    assert budget.pause_after_failure(3.0) is None
    assert RestartBudget(most=0).pause_after_failure(0.0) is None


def test_old_failures_are_forgiven() -> None:
    budget = RestartBudget(most=3)
    for _ in range(3):
        budget.pause_after_failure(0.0)
    assert budget.pause_after_failure(WINDOW + 0.1) == 0.25


def test_work_in_between_makes_the_pause_short_again() -> None:
    budget = RestartBudget(most=9)
    pauses = [budget.pause_after_failure(t, had_worked=t == 2.0) for t in (0.0, 1.0, 2.0, 3.0)]
    assert pauses == [0.25, 0.5, 0.25, 0.5]


def test_no_pause_is_longer_than_half_a_minute() -> None:
    budget = RestartBudget(most=100)
    assert [budget.pause_after_failure(0.0) for _ in range(20)][-1] == MAX_PAUSE


def test_machines_that_are_far_apart_are_given_more_time() -> None:
    assert patience_of(0.3) == LEAST_SILENCE
    assert patience_of(60.0) == SILENT_HEARTBEATS * 60.0
