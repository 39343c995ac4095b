"""A run ends at the first limit that it reaches, or when a signal asks for it."""

from __future__ import annotations

import signal

import pytest

from distrl.config.sections import RunSettings
from distrl.engine.run.stop_request import Spent, StopRequest, StopRequested, progress


def test_the_limit_that_is_nearest_counts() -> None:
    settings = RunSettings(minutes=10, trajectories=100, updates=50)
    assert progress(settings, Spent(60.0, 20, 5)) == 0.2
    assert progress(settings, Spent(60.0, 20, 25)) == 0.5
    assert progress(settings, Spent(600.0, 20, 25)) == 1.0
    assert progress(RunSettings(minutes=10), Spent(60.0, 10**9, 10**9)) == 0.1


def test_the_first_signal_asks_and_the_second_ends_at_once() -> None:
    before, woken = signal.getsignal(signal.SIGTERM), list[int]()
    with StopRequest() as stop:
        stop.wake = lambda: woken.append(1)
        stop.check()
        signal.raise_signal(signal.SIGTERM)
        assert stop.asked
        assert woken == [1]
        with pytest.raises(StopRequested):
            stop.check()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGTERM) is before
