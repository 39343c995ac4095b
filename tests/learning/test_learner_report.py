"""The figures of a report, against numbers worked by hand."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from tests.learning.small_circle import SmallCircle

from distrl.learning.learner_report import STAGES, LearnerReport, StageClock, reported_draws
from distrl.learning.staleness_buckets import bucket_names, staleness_histogram
from distrl.records import Branch
from distrl.replay.buffer.entries import Draw


def test_staleness_is_counted_in_buckets() -> None:
    assert bucket_names() == [
        "0", "1", "2", "3_to_4", "5_to_8", "9_to_16", "17_to_32", "over_32",
    ]  # fmt: skip
    assert staleness_histogram([0, 0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 900]) == (
        2, 1, 1, 2, 2, 2, 2, 2,
    )  # fmt: skip


def test_stages_add_up() -> None:
    clock = StageClock()
    for _ in range(2):
        with clock.stage("batch"):
            pass
    with pytest.raises(ZeroDivisionError), clock.stage("update"):
        _ = 1 / 0
    assert set(clock.seconds) == set(STAGES)
    assert clock.seconds["batch"] > 0.0
    assert clock.seconds["update"] > 0.0  # stopped, although it failed
    assert clock.seconds["drain"] == 0.0


def test_gauges_are_flat_finite_numbers() -> None:
    circle = SmallCircle(batch_trajectories=8)
    report = circle.rounds(0, 10)[-1]
    assert isinstance(report, LearnerReport)
    gauges = report.gauges()
    assert all(isinstance(value, float) and math.isfinite(value) for value in gauges.values())
    assert {f"seconds/{stage}" for stage in STAGES} <= set(gauges)
    for name in (
        "loss/policy",
        "gradient_norm/critic",
        "ratio/q05",
        "ratio/q50",
        "ratio/q100",
        "ratio/effective_sample_size",
        "ratio/clip_fraction",
        "staleness/over_32",
        "value/calibration_error",
        "entropy",
        "invalid_rate",
        "samples_per_insert",
        "tokens_per_second",
        "arrivals/stale",
        "arrivals/not_judged",
        "replay/trajectories",
    ):
        assert name in gauges
    assert sum(report.staleness) == 8
    assert 1.0 <= report.effective_sample_size <= report.turns
    assert report.tokens >= report.turns


def test_a_draw_is_reported_with_the_times_that_it_was_trained_on() -> None:
    circle = SmallCircle(batch_trajectories=8)
    reports = [each for each in circle.rounds(0, 10) if isinstance(each, LearnerReport)]
    times = Counter[str]()
    for report in reports:
        times.update(drawn.id for drawn in report.drawn)
        assert {drawn.id: drawn.times_drawn for drawn in report.drawn} == {
            drawn.id: times[drawn.id] for drawn in report.drawn
        }


def test_a_continuation_is_reported_at_its_own_steps() -> None:
    circle = SmallCircle()
    [whole, *_] = circle.collect("corpus", 50)
    long = max(circle.arrivals, key=lambda each: len(each.decisions))
    fork = replace(long, id="fork", branch=Branch(whole.id, 1))
    steps = len(long.decisions)
    assert steps > 1
    draws = [Draw(0, long, 1.0, 1, 1.0, 1.0), Draw(1, fork, 1.0, 1, 1.0, 1.0)]
    figures = torch.arange(2.0 * steps).reshape(2, steps)
    update = SimpleNamespace(values=figures, ratios=figures, advantages=figures)
    first, second = reported_draws(draws, update)  # type: ignore[arg-type]
    assert first.values == tuple(range(steps))
    assert math.isnan(second.values[0])  # its parent's
    assert second.values[1:] == tuple(range(steps, 2 * steps - 1))  # and none of the padding
