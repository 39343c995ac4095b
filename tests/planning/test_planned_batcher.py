"""The desk on paper keeps the rules of the real one."""

from __future__ import annotations

import pytest

from distrl.planning.event_queue import EventQueue, Level
from distrl.planning.plan_settings import PolicyPlan
from distrl.planning.planned_batcher import PlannedBatcher, batch_seconds


class DecisionService:
    """One desk with four seconds for any batch, and who was answered when."""

    def __init__(self, episodes: int, **plan: float) -> None:
        self.events = EventQueue()
        self.answers: list[tuple[int, int, float]] = []
        settings = PolicyPlan(batch_sizes=(1,), batch_seconds=(4.0,), most=3)
        for name, value in plan.items():
            object.__setattr__(settings, name, value)
        self.batcher = PlannedBatcher(
            0, settings, self.events, Level(self.events), self._hear, seed=0
        )
        for _ in range(episodes):
            self.batcher.enter()

    def _hear(self, phone: int, version: int) -> None:
        self.answers.append((phone, version, self.events.now))

    def run(self, until: float) -> None:
        assert self.events.run(until, most=1000)


def test_who_asks_meanwhile_is_answered_together_oldest_first_and_no_more_than_most() -> None:
    it = DecisionService(episodes=5, max_wait_seconds=0.0)
    for phone in range(5):
        it.events.after(0.5 * phone, it.batcher.ask, phone)
    it.run(20.0)
    assert it.answers == [(0, 0, 4.0), (1, 0, 8.0), (2, 0, 8.0), (3, 0, 8.0), (4, 0, 12.0)]
    assert (it.batcher.batches, it.batcher.decisions) == (3, 5)


def test_it_lingers_for_a_fuller_batch_but_not_before_it_knows_how_long_one_takes() -> None:
    it = DecisionService(episodes=3, max_wait_seconds=1.0)
    it.batcher.ask(0)  # nothing was ever decided: at once
    it.events.after(5.0, it.batcher.ask, 1)
    it.events.after(5.5, it.batcher.ask, 2)
    it.run(20.0)
    assert it.answers == [(0, 0, 4.0), (1, 0, 10.0), (2, 0, 10.0)]


def test_it_does_not_linger_when_all_who_could_ask_have_asked_or_have_left() -> None:
    it = DecisionService(episodes=2, max_wait_seconds=100.0)
    it.batcher.ask(0)
    it.events.after(5.0, it.batcher.ask, 0)
    it.events.after(6.0, it.batcher.ask, 1)  # both: no more to wait for, at 6 s
    it.events.after(11.0, it.batcher.ask, 0)
    it.events.after(12.5, it.batcher.leave)  # the other one is gone, at 12.5 s
    it.run(50.0)
    assert [at for _, _, at in it.answers] == [4.0, 10.0, 10.0, 16.5]


def test_it_never_lingers_for_longer_than_the_last_batch_took() -> None:
    it = DecisionService(episodes=3, max_wait_seconds=100.0)
    it.batcher.ask(0)
    it.events.after(5.0, it.batcher.ask, 1)
    it.run(50.0)
    assert it.answers[-1] == (1, 0, 5.0 + 4.0 + 4.0)


def test_weights_are_taken_between_batches() -> None:
    it = DecisionService(episodes=1, max_wait_seconds=0.0)
    it.batcher.ask(0)
    it.events.after(1.0, it.batcher.update_weights, 7)
    it.events.after(2.0, it.batcher.ask, 0)
    it.run(20.0)
    assert it.answers == [(0, 0, 4.0), (0, 7, 8.0)]
    it.batcher.update_weights(8)  # nobody asks: at once
    assert it.batcher.version == 8


def test_batch_time_is_a_line_between_sizes_and_goes_on_beyond_them() -> None:
    """1 s for 1, 2 s for 5, 4 s for 9: a quarter more for each, then a half."""
    plan = PolicyPlan(batch_sizes=(1, 5, 9), batch_seconds=(1.0, 2.0, 4.0), most=64)
    seconds = batch_seconds(plan)
    assert [seconds[size] for size in (1, 3, 5, 7, 9, 13)] == pytest.approx(
        [1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    )
