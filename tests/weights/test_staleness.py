"""Admission by staleness: what may start, and what is taken when it arrives."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distrl.errors import InvalidSetting
from distrl.weights.staleness import StalenessLimit, staleness, versions_to_come


def test_staleness_is_the_versions_in_between() -> None:
    assert staleness(7, 4) == 3
    assert staleness(4, 4) == 0
    assert staleness(4, 7) == 0  # of before a restart


def test_a_trajectory_is_taken_up_to_the_limit() -> None:
    limit = StalenessLimit(at_start=1, at_arrival=3)
    assert limit.admits(10, 7)
    assert not limit.admits(10, 6)
    assert limit.admits(10, 11)
    assert StalenessLimit(None, None).admits(10**9, 0)


def test_an_episode_starts_only_if_it_will_be_young_enough() -> None:
    limit = StalenessLimit(at_start=2, at_arrival=4)
    assert limit.may_start(10, 10, to_come=2)
    assert not limit.may_start(10, 10, to_come=3)
    assert limit.may_start(10, 9, to_come=1)
    assert not limit.may_start(10, 7, to_come=0)
    assert StalenessLimit(None, None).may_start(10, 0, to_come=99)


def test_versions_to_come_by_hand() -> None:
    to_come = partial(versions_to_come, draws_per_insert=4.0, draws_per_version=64)
    # 40 draws since the last version, 12 paid for, 3 in flight worth 12 more: 64, one version.
    assert to_come(3, draws_due=12.0, draws_since_version=40) == 1
    assert to_come(3, draws_due=11.0, draws_since_version=40) == 0
    # While the replay fills, what comes in pays for nothing yet, so nobody has to wait for it.
    assert to_come(50, draws_due=-400.0) == 0


@given(
    limit=st.integers(0, 4),
    devices=st.integers(1, 12),
    updates_per_version=st.integers(1, 4),
    ratio=st.sampled_from([0.5, 1.0, 2.0, 5.0]),
    minimum_fill=st.integers(1, 30),
)
def test_a_paced_learner_never_meets_what_is_older_than_the_limit(
    limit: int, devices: int, updates_per_version: int, ratio: float, minimum_fill: int
) -> None:
    """First come, first learned from; draws when paid. Nobody waits for ever, nothing is stale."""
    batch, updates = 8, 0
    admission = StalenessLimit(at_start=limit, at_arrival=limit)
    in_flight: list[int] = []  # weight versions, oldest first
    for inserted in range(200):
        version = updates // updates_per_version
        owed = ratio * (inserted - minimum_fill) - batch * updates
        while len(in_flight) < devices and admission.may_start(
            version,
            version,
            versions_to_come(
                len(in_flight),
                draws_due=owed,
                draws_per_insert=ratio,
                draws_per_version=batch * updates_per_version,
                draws_since_version=batch * (updates % updates_per_version),
            ),
        ):
            in_flight.append(version)
        assert in_flight, "nobody may start, and nobody is on the way"
        assert admission.admits(version, in_flight.pop(0))
        while ratio * (inserted + 1 - minimum_fill) - batch * updates >= batch:
            updates += 1
    assert updates > 0


@pytest.mark.parametrize(("at_start", "at_arrival"), [(-1, None), (0, -1), (5, 4), (None, 4)])
def test_limits_that_make_no_sense_are_refused(at_start: int | None, at_arrival: int) -> None:
    with pytest.raises(InvalidSetting, match=r"(StalenessLimit|staleness)\.at_"):
        StalenessLimit(at_start, at_arrival)
