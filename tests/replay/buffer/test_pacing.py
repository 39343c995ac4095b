"""Both sides of the pacing, exactly at their borders."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distrl.errors import CorruptSnapshot, InvalidSetting
from distrl.replay.buffer.pacing import Pacing


def test_no_draw_before_the_replay_is_filled() -> None:
    pacing = Pacing(samples_per_insert=4.0, minimum_fill=3, tolerance=8.0)
    for _ in range(2):
        pacing.on_insert()
        assert not pacing.may_sample()
    pacing.on_insert()
    assert pacing.may_sample()


def test_the_learner_stops_when_it_has_run_ahead_by_the_tolerance() -> None:
    pacing = Pacing(samples_per_insert=4.0, minimum_fill=3, tolerance=8.0)
    pacing.on_insert(3)  # owed 0
    assert pacing.may_sample(8)
    assert not pacing.may_sample(9)
    pacing.on_sample(8)  # owed -8
    assert not pacing.may_sample()
    pacing.on_insert()  # owed -4
    assert pacing.may_sample(4)
    assert not pacing.may_sample(5)


def test_collectors_stop_when_the_learner_is_behind_by_the_tolerance() -> None:
    pacing = Pacing(samples_per_insert=4.0, minimum_fill=3, tolerance=8.0)
    pacing.on_insert(3)  # owed 0
    assert pacing.may_insert(2)
    assert not pacing.may_insert(3)
    pacing.on_insert(2)  # owed 8
    assert not pacing.may_insert()
    pacing.on_sample(3)  # owed 5
    assert not pacing.may_insert()
    pacing.on_sample()  # owed 4
    assert pacing.may_insert()


def test_filling_is_always_allowed() -> None:
    pacing = Pacing(samples_per_insert=100.0, minimum_fill=1000, tolerance=51.0)
    for _ in range(1000):
        assert pacing.may_insert()
        pacing.on_insert()
    assert not pacing.may_insert()


def test_an_infinite_tolerance_lets_both_run_free() -> None:
    pacing = Pacing(samples_per_insert=1.0)
    assert not pacing.may_sample()
    pacing.on_insert()
    pacing.on_sample(10**6)
    assert pacing.may_sample(32)
    pacing.on_insert(10**9)
    assert pacing.may_insert()


def test_paced_draws_are_expected_by_what_is_owed() -> None:
    pacing = Pacing(samples_per_insert=4.0, minimum_fill=3, tolerance=20.0)
    assert pacing.expected_draws() == (-12.0, 4.0)  # 3 inserts that pay for nothing
    pacing.on_insert(5)
    pacing.on_sample(6)
    assert pacing.expected_draws() == (2.0, 4.0)


def test_unpaced_draws_are_expected_by_the_ratio_so_far() -> None:
    pacing = Pacing(samples_per_insert=4.0, minimum_fill=3)
    pacing.on_insert(2)
    assert pacing.expected_draws() == (-4.0, 4.0)  # nothing was measured yet
    pacing.on_insert(101)
    pacing.on_sample(150)  # owed 250, which nobody is going to draw
    assert pacing.expected_draws() == (0.0, 1.5)
    assert pacing.ratio == 1.5


@given(
    st.floats(0.1, 20.0),
    st.integers(1, 20),
    st.floats(0.0, 5.0),
    st.integers(1, 8),
    st.integers(1, 4),
    st.lists(st.booleans(), max_size=60),
)
def test_one_side_can_always_move_and_the_ratio_holds(
    ratio: float, fill: int, slack: float, draws: int, inserts: int, turns: list[bool]
) -> None:
    tolerance = (draws + inserts * ratio) / 2 + slack
    pacing = Pacing(ratio, fill, tolerance)
    for learner_first in turns:
        may = {"sample": pacing.may_sample(draws), "insert": pacing.may_insert(inserts)}
        assert any(may.values())
        if may["sample"] and (learner_first or not may["insert"]):
            pacing.on_sample(draws)
        else:
            pacing.on_insert(inserts)
        assert pacing.owed >= -tolerance or not pacing.sampled
        assert pacing.owed <= max(tolerance, ratio * inserts)


def test_a_tolerance_that_could_stop_both_sides_is_refused() -> None:
    with pytest.raises(InvalidSetting, match=r"give 2\.5 or more"):
        Pacing(samples_per_insert=4.0, tolerance=2.4)
    pacing = Pacing(samples_per_insert=4.0, tolerance=2.5)
    for _ in range(2):  # not only the first time
        with pytest.raises(InvalidSetting, match="give 18 or more"):
            pacing.may_sample(32)
        with pytest.raises(InvalidSetting, match=r"give 4\.5 or more"):
            pacing.may_insert(2)
    both = Pacing(samples_per_insert=4.0, tolerance=18.0)
    both.may_sample(32)
    both.may_sample(1)
    with pytest.raises(InvalidSetting, match="32 samples and 2 inserts"):
        both.may_insert(2)


@pytest.mark.parametrize("ratio", [0.0, -1.0, math.nan, math.inf])
def test_ratios_out_of_range_are_refused(ratio: float) -> None:
    with pytest.raises(InvalidSetting, match="samples_per_insert"):
        Pacing(ratio)


def test_a_fill_of_nothing_and_a_tolerance_of_nan_are_refused() -> None:
    with pytest.raises(InvalidSetting, match="minimum_fill=0"):
        Pacing(1.0, minimum_fill=0)
    with pytest.raises(InvalidSetting, match="tolerance=nan"):
        Pacing(1.0, tolerance=math.nan)


def test_the_counters_survive_a_checkpoint() -> None:
    pacing = Pacing(4.0, 3, 8.0)
    pacing.on_insert(5)
    pacing.on_sample(3)
    again = Pacing(4.0, 3, 8.0)
    again.load_state(json.loads(json.dumps(pacing.state_dict())))
    assert (again.owed, again.may_insert(), again.may_sample(8)) == (5.0, False, True)
    for broken in ({"inserted": 1}, {"inserted": -1, "sampled": 0}):
        with pytest.raises(CorruptSnapshot):
            again.load_state(broken)
