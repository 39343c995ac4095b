"""In the order of storing; `taken` follows the learner; a wait ends by what it waits for."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.replay.made_up_trajectories import trajectory

from distrl.engine.ingest.arrival_queue import ArrivalQueue
from distrl.replay.store.trajectory_reader import BEGINNING, StoredTrajectory

LONG = 60.0  # seconds that no test takes
A_MOMENT = 0.1  # in which one that must not go on is given the chance to


def stored(position: int) -> StoredTrajectory:
    return StoredTrajectory(trajectory(f"c/{position}"), position)


@pytest.fixture
def beside() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as threads:
        yield threads


def test_they_come_in_their_order_and_the_last_one_taken_is_known() -> None:
    arrivals = ArrivalQueue()
    assert (len(arrivals), arrivals.taken) == (0, BEGINNING)
    for position in (3, 4, 9):
        arrivals.put(stored(position))
    assert (len(arrivals), arrivals.taken) == (3, BEGINNING)  # what waits is not taken
    for left, position in ((2, 3), (1, 4), (0, 9)):
        assert arrivals.popleft().id == f"c/{position}"
        assert (len(arrivals), arrivals.taken) == (left, position)


def test_a_resumed_run_goes_on_from_where_it_was() -> None:
    arrivals = ArrivalQueue(taken=7)
    assert arrivals.taken == 7
    with pytest.raises(IndexError):
        arrivals.popleft()
    assert arrivals.taken == 7


def test_a_wait_ends_when_one_arrives(beside: ThreadPoolExecutor) -> None:
    arrivals = ArrivalQueue()

    def take() -> str:
        arrivals.wait(LONG)
        return arrivals.popleft().id

    taken = beside.submit(take)
    with pytest.raises(TimeoutError):
        taken.result(A_MOMENT)
    arrivals.put(stored(1))
    assert taken.result(LONG / 2) == "c/1"


def test_a_wait_ends_at_once_where_one_is_there(beside: ThreadPoolExecutor) -> None:
    arrivals = ArrivalQueue()
    arrivals.put(stored(1))
    beside.submit(arrivals.wait, LONG).result(LONG / 2)
    assert len(arrivals) == 1  # it takes nothing


def test_a_rest_is_not_ended_by_arrivals(beside: ThreadPoolExecutor) -> None:
    arrivals = ArrivalQueue()
    arrivals.put(stored(1))
    rest = beside.submit(arrivals.rest, LONG)
    arrivals.put(stored(2))
    with pytest.raises(TimeoutError):
        rest.result(A_MOMENT)
    arrivals.wake()
    rest.result(LONG / 2)


@pytest.mark.parametrize("kind", ["wait", "rest"])
def test_a_wake_that_comes_too_early_is_not_lost_and_counts_once(
    beside: ThreadPoolExecutor, kind: str
) -> None:
    arrivals = ArrivalQueue()
    pause = arrivals.wait if kind == "wait" else arrivals.rest
    arrivals.wake()
    beside.submit(pause, LONG).result(LONG / 2)
    second = beside.submit(pause, LONG)
    with pytest.raises(TimeoutError):
        second.result(A_MOMENT)
    arrivals.wake()
    second.result(LONG / 2)


def test_waits_end_by_themselves() -> None:
    arrivals = ArrivalQueue()
    arrivals.wait(0.0)
    arrivals.rest(0.0)
    assert len(arrivals) == 0


def test_nothing_is_lost_between_two_threads(beside: ThreadPoolExecutor) -> None:
    arrivals, count = ArrivalQueue(), 500
    same = trajectory("c/1")

    def take_all() -> list[int]:
        positions: list[int] = []
        while len(positions) < count:
            arrivals.wait(LONG)
            while len(arrivals):
                arrivals.popleft()
                positions.append(arrivals.taken)
        return positions

    taken = beside.submit(take_all)
    for position in range(1, count + 1):
        arrivals.put(StoredTrajectory(same, position))
    assert taken.result(LONG / 2) == list(range(1, count + 1))
