"""What went through a model, counted by hand, and never made up where nobody counts."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import pytest
import torch
from benchmarks.learner_profile import Nowhere, trajectory
from benchmarks.pixel_policy import PixelPolicy
from tests.learning.small_circle import SmallCircle

from distrl.learning.algorithms.a_ride import ARide
from distrl.learning.gradient_step import GradientStep
from distrl.learning.learner import Learner
from distrl.learning.learner_report import LearnerReport
from distrl.learning.learner_settings import LearnerSettings
from distrl.learning.throughput import peak_flops, peak_of, work_of, work_since
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.buffer.replay_buffer import ReplayBuffer

PATCHES = 4


@pytest.mark.parametrize(
    ("name", "teraflops"),
    [
        ("NVIDIA H200", 989.5),
        ("NVIDIA H100 80GB HBM3", 989.5),
        ("NVIDIA H100 PCIe", 756.5),
        ("NVIDIA H100 NVL", 835.5),
        ("NVIDIA A100-SXM4-80GB", 312.0),
        ("NVIDIA A10", 125.0),
        ("NVIDIA L4", 121.0),
        ("NVIDIA L40S", 362.0),
    ],
)
def test_peaks_are_found_by_the_drivers_names(name: str, teraflops: float) -> None:
    assert peak_of(name) == teraflops * 1e12


def test_what_is_not_known_is_none() -> None:
    assert peak_of("NVIDIA GeForce GTX 970") is None
    assert peak_of("AMD Instinct MI300X") is None
    assert peak_flops(torch.device("cpu")) is None
    circle = SmallCircle()  # a table has no tokens that go through anything
    report = circle.rounds(0, 8)[-1]
    assert isinstance(report, LearnerReport)
    assert (report.work, report.peak_share, report.model_tokens_per_second) == (None, None, None)
    assert not {"peak_share", "model_tokens_per_second"} & set(report.gauges())


def offline_learner(policy: PixelPolicy, drawn: int, refreshed: int = 0) -> Learner:
    """On three successes of ten turns each: no last screen has a value that counts."""
    step = GradientStep(policy)
    settings = LearnerSettings(
        mode="offline", batch_trajectories=drawn, refresh_trajectories=refreshed
    )
    learner = Learner(
        policy, ARide(step), step, ReplayBuffer(), Pacing(1.0), deque(), Nowhere(), settings
    )
    learner.preload(trajectory(policy, 64, 64, number) for number in (0, 2, 4))
    return learner


def a_step(learner: Learner) -> LearnerReport:
    report = learner.step()
    assert isinstance(report, LearnerReport)
    return report


@pytest.mark.parametrize(("drawn", "refreshed", "rest"), [(4, 0, 0), (1, 3, 2)])
def test_the_work_of_a_step_is_all_passes_of_it_and_no_other(
    drawn: int, refreshed: int, rest: int
) -> None:
    """What is drawn goes through once, with a gradient; the rest is looked at."""
    policy = PixelPolicy(8, patches=PATCHES)
    learner = offline_learner(policy, drawn, refreshed)
    a_step(learner)
    policy.forward_tokens += 1_000  # a decision, say, between two steps
    work = a_step(learner).work
    assert work is not None
    learned, looked = 10 * drawn * PATCHES, 10 * rest * PATCHES
    parameters = sum(each.numel() for each in policy.parameters())
    assert work.tokens == learned + looked
    assert work.flops == 6.0 * parameters * learned + 2.0 * parameters * looked


def test_shares_and_rates_by_hand() -> None:
    report = a_step(offline_learner(PixelPolicy(8, patches=PATCHES), drawn=2))
    assert report.work is not None
    assert report.peak_share is None  # of a CPU nobody knows it
    timed = replace(report, seconds={"update": 3.0, "refresh": 1.0}, peak_flops=1e9)
    assert timed.model_tokens_per_second == report.work.tokens / 4.0
    assert timed.tokens_per_second == report.tokens / 4.0
    assert timed.peak_share == pytest.approx(report.work.flops / 4e9)
    assert timed.gauges()["peak_share"] == timed.peak_share


def test_work_is_counted_from_a_moment_on() -> None:
    policy = PixelPolicy(8, patches=PATCHES)
    policy.forward_tokens = 7
    before = work_of(policy)
    policy.forward_tokens, policy.training_tokens = 10, 2
    work = work_since(before, policy)
    assert work is not None
    assert work.tokens == 5
    assert work.flops == 2.0 * policy.parameter_count * (3 + 3 * 2)
    assert work_since(None, policy) is None
    assert work_since(before, object()) is None
