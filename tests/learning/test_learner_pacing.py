"""The learner's pace: draws per insert, and which episodes may start."""

from __future__ import annotations

import math

import pytest
from tests.learning.small_circle import SmallCircle, ask

from distrl.errors import InvalidSetting
from distrl.learning.algorithms.filtered_bc import FilteredBc
from distrl.learning.learner_report import LearnerReport, Waiting
from distrl.replay.buffer.pacing import Pacing, PacingSettings
from distrl.weights.staleness import StalenessLimit


def test_it_waits_until_the_replay_is_filled() -> None:
    circle = SmallCircle(pacing=Pacing(samples_per_insert=1.0, minimum_fill=10))
    circle.collect("few", 9)
    answer = circle.learner.step()
    assert isinstance(answer, Waiting)
    assert answer.gauges()["arrivals/stored"] == 9.0
    assert answer.learner_status.updates == 0
    circle.collect("one more", 1)
    assert ask(circle).learner_status.updates == 1


@pytest.mark.parametrize(("arriving", "ratio"), [(1, 2.0), (8, 2.0), (40, 0.5)])
def test_the_pace_is_kept_by_whoever_is_too_fast(arriving: int, ratio: float) -> None:
    pacing = Pacing(samples_per_insert=ratio, minimum_fill=20, tolerance=24.0)
    circle = SmallCircle(pacing=pacing, batch_trajectories=16, refresh_trajectories=0)
    answers = []
    for number in range(80):
        circle.collect(number, arriving)
        answers.append(circle.learner.step())
        assert abs(pacing.owed) <= 24.0 or pacing.inserted < 20
    updates = sum(isinstance(answer, LearnerReport) for answer in answers)
    assert pacing.sampled == 16 * updates
    assert pacing.inserted + len(circle.arrivals) == 80 * arriving  # held back, not lost
    assert pacing.sampled == pytest.approx(ratio * (pacing.inserted - 20), abs=24.0)


@pytest.mark.parametrize(("inserts_per_update", "rounds"), [(0.5, 240), (2.0, 80), (8.0, 80)])
def test_the_default_tolerance_holds_the_ratio_within_a_twentieth(
    inserts_per_update: float, rounds: int
) -> None:
    # 4 draws per insert and batches of 8: 2 inserts for each update. Collectors are slower than
    # that, as fast, or faster.
    pacing = PacingSettings(samples_per_insert=4.0, minimum_fill=8).new(batch_trajectories=8)
    circle = SmallCircle(
        pacing=pacing, batch_trajectories=8, refresh_trajectories=0, make=FilteredBc
    )
    due = 0.0
    for number in range(rounds):
        due += inserts_per_update
        if due >= 1.0 and len(circle.arrivals) < 32:
            circle.collect(number, int(due))
            due %= 1.0
        circle.learner.step()
    assert circle.learner.learner_status().samples_per_insert == pytest.approx(4.0, rel=0.05)


def test_a_tolerance_that_could_lock_both_sides_is_refused_before_the_first_step() -> None:
    with pytest.raises(InvalidSetting, match="wait for each other"):
        SmallCircle(pacing=Pacing(samples_per_insert=1.0, tolerance=8.0), batch_trajectories=64)


def test_episodes_start_only_while_they_will_be_young_enough() -> None:
    # 16 draws a version and 4 draws per insert: 4 trajectories in flight are a version to come.
    circle = SmallCircle(
        pacing=Pacing(4.0, minimum_fill=4, tolerance=16.0),
        updates_per_publish=1,
        staleness=StalenessLimit(at_start=1, at_arrival=None),
    )
    learner = circle.learner
    assert learner.may_start(0, in_flight=11)  # the first 4 of them fill the replay
    assert not learner.may_start(0, in_flight=12)
    circle.collect("first", 4)
    ask(circle)  # ahead of its pay, by the tolerance
    assert learner.version == 1
    assert learner.may_start(1, in_flight=11)
    assert learner.may_start(0, in_flight=7)
    assert not learner.may_start(0, in_flight=8)


@pytest.mark.parametrize(
    ("tolerance", "arriving", "passed"),
    [
        (32.0, 4, 5),  # at_start + 1, and one more: the learner is a batch ahead of its pay
        (math.inf, 8, 4),  # too slow for 4 draws per insert, and nothing makes it faster
    ],
)
def test_an_episode_is_admitted_by_the_versions_that_really_pass(
    tolerance: float, arriving: int, passed: int
) -> None:
    circle = SmallCircle(
        pacing=Pacing(4.0, minimum_fill=4, tolerance=tolerance),
        updates_per_publish=1,
        refresh_trajectories=0,
        staleness=StalenessLimit(at_start=3, at_arrival=None),
        make=FilteredBc,
    )
    learner, in_flight = circle.learner, 0
    for number in range(20):
        circle.collect(number, arriving)
        ask(circle)
    begun = learner.version
    while learner.may_start(begun, in_flight):
        in_flight += 1
    for number in range(round(in_flight / arriving)):
        circle.collect(f"in flight {number}", arriving)
        ask(circle)
    assert learner.version - begun == passed


def test_no_version_comes_while_the_critic_warms_up() -> None:
    circle = SmallCircle(
        pacing=Pacing(4.0, minimum_fill=1, tolerance=40.0),
        warm_up_updates=2,
        updates_per_publish=1,
        staleness=StalenessLimit(at_start=0, at_arrival=None),
    )
    assert circle.learner.may_start(0, in_flight=12)  # 44 draws: 2 updates to warm up and a bit
    assert not circle.learner.may_start(0, in_flight=13)  # 48 draws: a third one


def test_nobody_starts_while_the_learner_is_offline() -> None:
    assert not SmallCircle(mode="offline").learner.may_start(0, in_flight=0)
