"""Who owes how many tasks in a round; whole runs are in `tests/engine/test_synchronous.py`."""

from __future__ import annotations

from distrl.engine.local.synchronous_collection import Rounds


def test_a_round_is_over_when_all_that_are_left_have_played() -> None:
    woken: list[bool] = []
    rounds = Rounds(wake=lambda: woken.append(True))
    assert rounds.is_over([0, 1])
    rounds.begin({0: 2, 1: 2})
    assert rounds.owed(0) == (0, 2)
    rounds.stored(0)
    rounds.stored(0)
    rounds.stored(0)  # sent twice, say
    assert rounds.owed(0) == (0, 1)  # only the collector itself knows that it has played all
    rounds.played(0)
    assert (rounds.owed(0), woken) == ((0, 0), [True])
    rounds.stored(0)
    assert rounds.owed(0) == (0, 0)  # nothing that is acknowledged late begins it again
    assert not rounds.is_over([0, 1])
    assert rounds.is_over([0])  # the other one was given up
    rounds.begin({0: 5})
    assert (rounds.owed(0), rounds.owed(1)) == ((1, 5), (1, 0))
