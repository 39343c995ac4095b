"""Time to a level on monotone curves, worked by hand."""

from __future__ import annotations

import pytest
from benchmarks.monotone_curve import SOONEST, monotone, seconds_to, time_ratio, times_by_seed


def test_neighbours_that_contradict_each_other_are_pooled() -> None:
    points = [(10.0, 0.2), (0.0, 0.1), (20.0, 0.6), (30.0, 0.4), (40.0, 0.5), (50.0, 0.9)]
    # 0.6, 0.4 and 0.5 are one pool at 30 s.
    assert monotone(points) == [(0.0, 0.1), (10.0, 0.2), (30.0, pytest.approx(0.5)), (50.0, 0.9)]


def test_a_level_is_reached_on_a_straight_line_between_pools() -> None:
    curve = [(0.0, 0.1), (10.0, 0.3), (30.0, 0.5)]
    assert seconds_to(0.2, curve) == pytest.approx(5.0)
    assert seconds_to(0.4, curve) == pytest.approx(20.0)
    assert seconds_to(0.05, curve) == 0.0
    assert seconds_to(0.6, curve) is None


def test_one_lucky_look_is_not_the_time_to_a_level() -> None:
    slow = [(0.0, 0.0), (25.0, 0.1), (50.0, 0.2), (75.0, 0.3), (100.0, 0.4)]
    quick = [(0.0, 0.0), (10.0, 0.4), (20.0, 0.0), (50.0, 0.4), (100.0, 0.8)]
    ratio, low, high, level = time_ratio([slow, slow], [quick, quick], whole=100.0)
    assert level == pytest.approx(0.35)  # the mean of their last quarter: 0.3 and 0.4
    # They are there at 87.5 s. Ours: a pool of 0.2 at 15 s, then 0.4 at 50 s: at 41.25 s.
    assert ratio == pytest.approx(87.5 / 41.25)
    assert low == high == pytest.approx(ratio)  # both seeds are the same


def test_a_level_at_which_a_curve_begins_is_reached_at_once_and_not_never() -> None:
    above = [(0.0, 0.5), (100.0, 0.6)]
    below = [(0.0, 0.1), (50.0, 0.3), (100.0, 0.3)]
    ratio, *_, level = time_ratio([below], [above], whole=100.0)
    assert level == pytest.approx(0.3)
    assert ratio == 75.0 / SOONEST  # 0.3 is a pool of 50 s and 100 s
    assert times_by_seed([below], [above], 100.0) == ([75.0], [SOONEST])


def test_each_seed_has_a_level_of_its_own() -> None:
    low, high = [(0.0, 0.0), (80.0, 0.2), (100.0, 0.2)], [(0.0, 0.0), (80.0, 0.4), (100.0, 0.4)]
    ours = [(0.0, 0.0), (100.0, 0.5)]
    slow, fast = times_by_seed([low, high], [ours, ours], 100.0)
    assert slow == pytest.approx([90.0, 90.0])
    assert fast == pytest.approx([40.0, 80.0])
