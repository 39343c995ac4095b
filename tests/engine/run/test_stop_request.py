"""A run ends at the first limit that it reaches."""

from __future__ import annotations

from distrl.config.sections import RunSettings
from distrl.engine.run.stop_request import Spent, progress


def test_the_limit_that_is_nearest_counts() -> None:
    settings = RunSettings(minutes=10, trajectories=100, updates=50)
    assert progress(settings, Spent(60.0, 20, 5)) == 0.2
    assert progress(settings, Spent(60.0, 20, 25)) == 0.5
    assert progress(settings, Spent(600.0, 20, 25)) == 1.0
    assert progress(RunSettings(minutes=10), Spent(60.0, 10**9, 10**9)) == 0.1
