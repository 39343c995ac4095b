"""A run ends at the first limit that it reaches, or when a signal asks for it."""

from __future__ import annotations

import signal

import pytest

from distrl.config.sections import RunSettings
from distrl.engine.run.stop_request import StopRequest, StopRequested, progress


def test_the_limit_that_is_nearest_counts() -> None:
    settings = RunSettings(minutes=10, trajectories=100, updates=50)

    def spent(seconds: float, updates: int) -> float:
        return progress(settings, training_seconds=seconds, trajectories=20, updates=updates)

    assert spent(60.0, 5) == 0.2
    assert spent(60.0, 25) == 0.5
    assert spent(600.0, 25) == 1.0
    settings = RunSettings(minutes=10)
    assert spent(60.0, 10**9) == 0.1


def test_the_first_signal_asks_and_the_second_ends_at_once(
    capfd: pytest.CaptureFixture[str],
) -> None:
    before, woken = signal.getsignal(signal.SIGTERM), list[int]()
    with StopRequest() as stop:
        stop.wake = lambda: woken.append(1)
        stop.check()
        signal.raise_signal(signal.SIGTERM)
        assert stop.asked
        assert woken == [1]
        with pytest.raises(StopRequested):
            stop.check()
        assert "Ctrl-C once more stops at once" in capfd.readouterr().err
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert "stopping at once" in capfd.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_terminal_that_is_closed_asks_for_an_end_unless_that_is_ignored() -> None:
    before = signal.getsignal(signal.SIGHUP)
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
        with StopRequest() as stop:
            signal.raise_signal(signal.SIGHUP)
            assert not stop.asked
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        with StopRequest() as stop:
            signal.raise_signal(signal.SIGHUP)
            assert stop.asked
    finally:
        signal.signal(signal.SIGHUP, before)
