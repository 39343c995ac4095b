"""Pools of random values: each value once before any comes again, and the same for a seed."""

from __future__ import annotations

import pytest

from distrl.planning.draw_pool import DrawPool, of_lengths, of_phone, of_seconds, of_shares
from distrl.planning.plan_settings import EpisodePlan, PhonePlan
from phonesim.latency import LogNormal


def test_each_value_comes_once_before_any_comes_again() -> None:
    pool = DrawPool([1.0, 2.0, 3.0], "numbers", seed=0)
    for _ in range(5):
        assert sorted(pool.draw() for _ in range(3)) == [1.0, 2.0, 3.0]
    assert pool.mean == 2.0


def test_seed_and_name_decide_the_order() -> None:
    def drawn(name: str, seed: int) -> list[float]:
        pool = DrawPool(list(range(50)), name, seed)
        return [pool.draw() for _ in range(50)]

    assert drawn("a", 1) == drawn("a", 1)
    assert drawn("a", 1) != drawn("a", 2)
    assert drawn("a", 1) != drawn("b", 1)


def test_a_share_is_exact_and_a_time_without_spread_is_one_value() -> None:
    assert of_shares(0.25, "share", 0).mean == 0.25
    assert set(of_seconds(LogNormal(3.0), "time", 0).values) == {3.0}


def test_lengths_keep_the_step_limit_and_measured_ones_are_taken_as_they_are() -> None:
    lengths = of_lengths(EpisodePlan(step_limit=6), 0).values
    assert lengths.min() >= 2
    assert lengths.max() == 6
    assert sorted(of_lengths(EpisodePlan(measured_steps=(3, 9)), 0).values) == [3, 9]


def test_stated_times_are_those_of_the_plan() -> None:
    plan = PhonePlan(kind="stated", reset=LogNormal(10.0), look=LogNormal(1.0), step=LogNormal(5.0))
    assert [pool.mean for pool in of_phone(plan, 0)] == pytest.approx([10.0, 1.0, 5.0])
