"""Simulated time goes forward, in order, and levels add up."""

from __future__ import annotations

import pytest

from distrl.planning.event_queue import EventQueue, Level


def test_events_happen_in_order_and_ties_as_they_were_asked_for() -> None:
    events, heard = EventQueue(), list[tuple[str, float]]()

    def hear(name: str) -> None:
        heard.append((name, events.now))

    for seconds, name in ((3.0, "late"), (1.0, "first"), (1.0, "second")):
        events.after(seconds, hear, name)
    assert events.run(2.0, most=100)
    assert heard == [("first", 1.0), ("second", 1.0)]
    assert events.now == 2.0
    assert events.run(3.0, most=100)
    assert heard[-1] == ("late", 3.0)


@pytest.mark.parametrize("seconds", [-0.1, float("nan")])
def test_nothing_happens_in_the_past(seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds from now"):
        EventQueue().after(seconds, print)


def test_a_simulation_that_would_never_end_is_cut_off() -> None:
    events = EventQueue()

    def again() -> None:
        events.after(0.0, again)

    events.after(1.0, again)
    assert not events.run(10.0, most=50)
    assert events.happened == 50
    assert events.now == 1.0


def test_a_level_adds_up_over_time() -> None:
    """2 for 3 s, then 5 for 1 s: 11."""
    events = EventQueue()
    level = Level(events)
    level.add(2)
    events.run(3.0, most=1)
    level.add(3)
    events.run(4.0, most=1)
    assert level.total == 11.0
