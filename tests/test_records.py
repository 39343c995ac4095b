"""Records refuse what cannot be, and keep what travels unchangeable."""

import numpy as np
import pytest

from distrl.errors import InvalidAction
from distrl.records import (
    Decision,
    Done,
    Ending,
    LongPress,
    Screen,
    Swipe,
    Tap,
    Task,
    Trajectory,
    Wait,
)

TASK = Task("a.b/train/0", "Do it", "general", "a.b", "train", 0, ("A",), "easy", 10)


def screen(value: int) -> Screen:
    return Screen(np.full((4, 2, 3), value, dtype=np.uint8))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tap(1.01, 0.5),
        lambda: Tap(0.5, -0.01),
        lambda: Tap(float("nan"), 0.5),
        lambda: LongPress(2.0, 0.0),
        lambda: Swipe(0.1, 0.2, 0.3, 1.5),
        lambda: Swipe(0.1, 0.2, 0.3, 0.4, seconds=0.0),
        lambda: Wait(-1.0),
    ],
)
def test_an_action_outside_the_screen_is_refused_and_says_so(make: object) -> None:
    with pytest.raises(InvalidAction, match=r"outside the screen|seconds"):
        make()  # type: ignore[operator]


def test_the_corners_of_the_screen_are_inside() -> None:
    assert Tap(0.0, 1.0) == Tap(0.0, 1.0)


def test_screens_are_read_only_and_equal_pixels_have_equal_digests() -> None:
    with pytest.raises(ValueError, match="read-only"):
        screen(1).pixels[0, 0, 0] = 9
    assert screen(1).digest == screen(1).digest != screen(2).digest


def test_a_trajectory_owns_one_screen_more_than_decisions() -> None:
    decisions = (Decision(Done(), weight_version=4),)
    kept = Trajectory("x", TASK, decisions, (screen(0), screen(1)), Ending.SUCCESS, None, 1.0)
    assert kept.success
    assert kept.weight_version == 4
    with pytest.raises(ValueError, match="1 decisions need 2 screens, got 1"):
        Trajectory("x", TASK, decisions, (screen(0),), Ending.SUCCESS, None, 1.0)


def test_every_ending_is_terminated_or_truncated_and_faults_are_never_judged() -> None:
    for ending in Ending:
        assert ending.terminated != ending.truncated
    faults = {Ending.APP_CRASH, Ending.DEVICE_LOST, Ending.JUDGE_UNAVAILABLE}
    assert {ending for ending in Ending if ending.broken} == faults
    waiting = {Ending.AWAITING_VERDICT}  # not broken, and not to be learned from yet
    never = {Ending.DRY_RUN}  # nothing happened, so nothing is to be learned
    assert {ending for ending in Ending if not ending.judged} == faults | waiting | never
    assert Ending.STEP_LIMIT.truncated
