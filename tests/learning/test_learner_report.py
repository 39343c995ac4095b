"""The figures of a report, against numbers worked by hand."""

from __future__ import annotations

import math

import pytest
import torch
from tests.learning.small_circle import SmallCircle

from distrl.learning.learner_report import (
    STAGES,
    LearnerReport,
    StageClock,
    bucket_names,
    calibration_error,
    staleness_histogram,
)


def test_staleness_is_counted_in_buckets() -> None:
    assert bucket_names() == [
        "0", "1", "2", "3_to_4", "5_to_8", "9_to_16", "17_to_32", "over_32",
    ]  # fmt: skip
    assert staleness_histogram([0, 0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 900]) == (
        2, 1, 1, 2, 2, 2, 2, 2,
    )  # fmt: skip


def test_a_critic_that_means_what_it_says_has_no_calibration_error() -> None:
    values = torch.tensor([[0.25], [0.25], [0.25], [0.25]])
    outcomes = torch.tensor([1.0, 0.0, 0.0, 0.0])
    mask = torch.ones(4, 1, dtype=torch.bool)
    assert calibration_error(values, outcomes, mask) == pytest.approx(0.0, abs=1e-7)


def test_calibration_error_by_hand() -> None:
    # Bin 0: values 0.05 and 0.05, both failed: gap 0.05, 2 of 4 steps. Bin 9: values 0.95 (success)
    # and 1.0 (failed): mean 0.975, share 0.5, gap 0.475, 2 of 4. Error (2·0.05 + 2·0.475) / 4.
    values = torch.tensor([[0.05, 0.05], [0.95, 1e9], [1.0, 1e9]])
    outcomes = torch.tensor([0.0, 1.0, 0.0])
    mask = torch.tensor([[True, True], [True, False], [True, False]])
    assert calibration_error(values, outcomes, mask) == pytest.approx(0.2625, abs=1e-6)


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
