"""What `make bench-devices` makes of outcomes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.devices import figures_of

from distrl.episodes.outcome import Outcome
from distrl.records import Ending
from phonesim.tasks.task_sets import load_task


def outcomes(*endings: Ending) -> list[Outcome]:
    task = load_task("notes.create/test/0")[0]
    return [
        Outcome(replace(task, id=f"notes.create/test/{number}"), ending, 3, "")
        for number, ending in enumerate(endings)
    ]


def test_gains_are_paired_by_task_and_what_nobody_judged_does_not_count() -> None:
    done, failed, lost = Ending.SUCCESS, Ending.STEP_LIMIT, Ending.DEVICE_LOST
    before = outcomes(done, failed, failed, failed, lost)
    after = outcomes(done, done, done, lost, done)
    found = figures_of("trained", "pages", after, before)
    assert found["trained_pages"] == 1.0
    assert found["trained_pages_episodes"] == 4
    assert found["trained_gain_pages"] == pytest.approx(2 / 3, abs=1e-4)  # of tasks 0, 1 and 2
    assert found["trained_gain_pages_low"] < 2 / 3 < found["trained_gain_pages_high"]
    assert "starter_gain_pages" not in figures_of("starter", "pages", before)
