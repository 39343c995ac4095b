"""The room for episodes in flight is shared among environments, so that none is kept out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.tiny_runs import mixed_config

from distrl.config.training_config import TrainingConfig
from distrl.engine.ingest.messages import Pace
from distrl.engine.supervision.room_shares import RoomShares

FAST, SLOW, JOINED = 0, 1, 1024


@pytest.fixture
def shares(tmp_path: Path) -> RoomShares:
    words = ["environments.small.devices.count=6", "environments.tall.devices.count=2"]
    return RoomShares.of(mixed_config(tmp_path, tmp_path, *words))


def test_a_slow_environment_starts_while_a_fast_one_has_all_that_it_may(
    shares: RoomShares,
) -> None:
    pace = Pace(version=0, rooms=(3,))  # four in flight at most
    assert not shares.pace_of(FAST, pace, {SLOW: 0}, 0).may_start(0, in_flight=3)
    assert shares.pace_of(SLOW, pace, {FAST: 3}, 0).may_start(0, in_flight=0)
    everything = RoomShares().pace_of(SLOW, pace, {FAST: 4}, 0)
    assert not everything.may_start(0, in_flight=0)  # as it would be without shares


@pytest.mark.parametrize("room", [-1, 0, 1, 2, 3, 7, 8, 100])
@pytest.mark.parametrize("waiting", [0, 1, 5])
def test_together_they_stay_within_the_bound_but_for_less_than_one_each(
    shares: RoomShares, room: int, waiting: int
) -> None:
    in_flight = {FAST: 0, SLOW: 0}
    for _ in range(200):  # whoever may start does
        for number in in_flight:
            others = {at: n for at, n in in_flight.items() if at != number}
            pace = shares.pace_of(number, Pace(0, (room,)), others, waiting)
            in_flight[number] += pace.may_start(0, in_flight[number])
    allowed = max(0, room + 1 - waiting)
    assert sum(in_flight.values()) <= allowed + 1
    if not waiting:
        assert sum(in_flight.values()) >= allowed  # none of it is left unused
        assert allowed == 0 or min(in_flight.values()) >= 1
    if allowed >= 8 and not waiting:
        assert in_flight[FAST] == pytest.approx(3 * in_flight[SLOW], abs=2)


def test_joined_collectors_go_by_the_whole_room_and_count_for_all(shares: RoomShares) -> None:
    pace = Pace(version=0, rooms=(7,))
    others = {FAST: 5, SLOW: 1}
    assert shares.pace_of(JOINED, pace, others, waiting=1).elsewhere == 7
    assert shares.pace_of(SLOW, pace, {FAST: 5, JOINED: 8}, 0) == Pace(0, (1,), elsewhere=2)


def test_a_run_without_environments_shares_nothing_out() -> None:
    pace = Pace(version=2, rooms=(7, 3), free=False)
    found = RoomShares.of(TrainingConfig()).pace_of(0, pace, {1: 4}, waiting=2)
    assert found == Pace(2, (7, 3), elsewhere=6)
