"""Rewards by name: what each term sees, what it ignores, and who is refused."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from distrl.errors import InvalidSetting, UsageError
from distrl.learning.targets.rewards import RewardSettings, StepRewards, invalid_steps, step_rewards
from distrl.records import (
    Action,
    Back,
    Decision,
    Done,
    Ending,
    Screen,
    Tap,
    Task,
    Trajectory,
    Unreadable,
    Verdict,
)

TASK = Task("t/train/1", "do it", "general", "t", "train", 1, ("notes",), "easy", 10)
SETTINGS = RewardSettings(success=2.0, step_cost=0.1, repetition_penalty=0.3, invalid_penalty=0.7)
GARBLED = Unreadable("tap somewhere", "no coordinates")


def _screen(page: int, clock: int = 0) -> Screen:
    """Sixty rows: the uppermost two are the status bar with its clock."""
    pixels = np.full((60, 4, 3), page, np.uint8)
    pixels[:2] = clock
    return Screen(pixels)


def _trajectory(
    ending: Ending, *steps: tuple[int, Action], verdict: Verdict | None = None
) -> Trajectory:
    """Each step is the page that was seen and what was done; the clock ticks at every step."""
    screens = [_screen(page, clock) for clock, (page, _) in enumerate(steps)]
    judged = verdict or Verdict(ending is Ending.SUCCESS, "", "facts")
    return Trajectory(
        id="e1",
        task=TASK,
        decisions=tuple(Decision(action) for _, action in steps),
        screens=(*screens, _screen(99)),
        ending=ending,
        verdict=judged if ending.judged else verdict,
        device_seconds=1.0,
    )


def _parts(rewards: StepRewards) -> dict[str, list[float]]:
    return {name: part.tolist() for name, part in dataclasses.asdict(rewards).items()}


def test_every_term_by_hand() -> None:
    trajectory = _trajectory(
        Ending.SUCCESS,
        (1, Tap(0.5, 0.5)),
        (1, Tap(0.5, 0.5)),  # the same on the same page: the clock does not make it new
        (1, GARBLED),
        (1, GARBLED),  # has its own penalty; not a repetition besides
        (2, Tap(0.5, 0.5)),  # another page
        (1, Back()),  # another action
        (2, Done()),
    )
    rewards = step_rewards(trajectory, SETTINGS)
    assert _parts(rewards) == {
        "task": [0, 0, 0, 0, 0, 0, 2.0],
        "step_cost": [-0.1] * 7,
        "repetition": [0, -0.3, 0, 0, 0, 0, 0],
        "invalid": [0, 0, -0.7, -0.7, 0, 0, 0],
    }
    expected = [-0.1, -0.4, -0.8, -0.8, -0.1, -0.1, 1.9]
    np.testing.assert_allclose(rewards.total, expected, rtol=0, atol=1e-12)
    assert rewards.total.dtype == np.float64
    assert invalid_steps(trajectory).tolist() == [0, 0, 1, 1, 0, 0, 0]


def test_a_repetition_may_come_later() -> None:
    """Back to the page and the very same tap: a circle is a repetition too."""
    around = _trajectory(Ending.STEP_LIMIT, (1, Tap(0.1, 0.1)), (2, Back()), (1, Tap(0.1, 0.1)))
    assert step_rewards(around, SETTINGS).repetition.tolist() == [0, 0, -0.3]
    whole = dataclasses.replace(
        SETTINGS, status_bar=0.0
    )  # where the clock counts, none is the same
    assert step_rewards(around, whole).repetition.tolist() == [0, 0, 0]


@pytest.mark.parametrize("ending", [Ending.FAILURE, Ending.GAVE_UP, Ending.STEP_LIMIT])
def test_only_success_is_rewarded(ending: Ending) -> None:
    """Not even a task that stood done when the steps ran out: the ending decides."""
    done_by_chance = Verdict(True, "", "facts")
    trajectory = _trajectory(ending, (1, Back()), (2, Done()), verdict=done_by_chance)
    assert not step_rewards(trajectory).task.any()


@pytest.mark.parametrize("ending", [Ending.APP_CRASH, Ending.DEVICE_LOST, Ending.JUDGE_UNAVAILABLE])
def test_a_fault_has_no_reward(ending: Ending) -> None:
    with pytest.raises(UsageError, match=f"e1 ended with {ending.value} and has no verdict"):
        step_rewards(_trajectory(ending, (1, Back())))
    guess = Verdict(False, "the phone was gone", "somebody")
    with pytest.raises(UsageError, match=f"e1 ended with {ending.value}"):
        step_rewards(_trajectory(ending, (1, Back()), verdict=guess))


def test_without_verdict_or_steps_there_is_no_reward() -> None:
    good = _trajectory(Ending.SUCCESS, (1, Done()))
    with pytest.raises(UsageError, match="no verdict"):
        step_rewards(dataclasses.replace(good, verdict=None))
    with pytest.raises(UsageError, match="no steps"):
        step_rewards(dataclasses.replace(good, decisions=(), screens=good.screens[:1]))


def test_the_defaults_leave_success_worth_having() -> None:
    """A clumsy success of ten steps is still better than giving up at once."""
    clumsy = _trajectory(Ending.SUCCESS, *[(1, Back())] * 9, (2, Done()))
    quitter = _trajectory(Ending.GAVE_UP, (1, Back()))
    assert step_rewards(clumsy).total.sum() > step_rewards(quitter).total.sum()


NUMBERS = [each.name for each in dataclasses.fields(RewardSettings) if each.name != "kind"]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [-0.1, math.inf, math.nan])
def test_settings_out_of_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(InvalidSetting, match=rf"RewardSettings\.{name}="):
        RewardSettings(**{name: value})  # type: ignore[arg-type]


def test_a_success_must_be_worth_something() -> None:
    with pytest.raises(InvalidSetting, match="success"):
        RewardSettings(success=0.0)
    with pytest.raises(InvalidSetting, match="status_bar"):
        RewardSettings(status_bar=1.0)
