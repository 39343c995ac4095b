"""The guess of how long is left: by the pace of training alone."""

from __future__ import annotations

import pytest

from distrl.engine.run.run_monitor import Countdown


def seen(*looks: tuple[float, float, bool]) -> Countdown:
    countdown = Countdown()
    for now, progress, training in looks:
        countdown.see(now, progress, training=training)
    return countdown


def test_an_evaluation_before_training_does_not_count() -> None:
    # 100 s of evaluation, then 1 % in 5 s: 99 % take 495 s, not 105 s · 99.
    countdown = seen(
        (0.0, 0.0, False), (100.0, 0.0, False), (100.0, 0.0, True), (105.0, 0.01, True)
    )
    assert countdown.seconds_left(0.01) == pytest.approx(495.0)


def test_an_evaluation_in_between_does_not_count() -> None:
    looks = [(0.0, 0.0, True), (10.0, 0.1, True), (10.0, 0.1, False), (99.0, 0.1, False)]
    countdown = seen(*looks, (99.0, 0.1, True), (109.0, 0.2, True))
    assert countdown.seconds_left(0.2) == pytest.approx(80.0)


def test_a_resumed_run_goes_by_its_own_pace() -> None:
    # It comes back at 60 %, and makes 10 % in 30 s.
    assert seen((0.0, 0.6, True), (30.0, 0.7, True)).seconds_left(0.7) == pytest.approx(90.0)


def test_nothing_is_said_too_early_or_at_the_end() -> None:
    assert Countdown().seconds_left(0.5) is None
    assert seen((0.0, 0.0, True), (1.0, 0.5, True)).seconds_left(0.5) is None
    assert seen((0.0, 0.0, True), (50.0, 0.001, True)).seconds_left(0.001) is None
    assert seen((0.0, 0.0, True), (50.0, 1.0, True)).seconds_left(1.0) is None
