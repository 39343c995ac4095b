"""What a step was worth: the task's reward and the named terms around it, from a trajectory.

No loss holds a literal of its own: every term has a name here and a setting. Only judged
trajectories have rewards; one that the world cut off (a crash, a lost device, no verdict) is
refused, never scored 0.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from distrl.bounds import Bounds, Checked, Fixed
from distrl.errors import UsageError
from distrl.records import Action, Screen, Trajectory, Unreadable

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RewardSettings(Checked):
    """What each thing is worth. Costs and penalties are written as positive numbers."""

    success: Annotated[float, Bounds(0.0, 1e6, "at the last step of a success", open=True)] = 1.0
    step_cost: Annotated[float, Bounds(0.0, 1e6, "for every step")] = 0.01
    repetition_penalty: Annotated[
        float, Bounds(0.0, 1e6, "for the same action on the same screen as before")
    ] = 0.05
    invalid_penalty: Annotated[float, Bounds(0.0, 1e6, "for an answer that could not be read")] = (
        0.1
    )
    status_bar: Annotated[
        float, Bounds(0.0, 0.999), Fixed("the clock in the status bar makes no new screen")
    ] = 1 / 30  # of the screen's height


DEFAULT_REWARDS = RewardSettings()


@dataclass(frozen=True, slots=True, eq=False)
class StepRewards:
    """The reward of each of T steps, by name; costs and penalties are negative here."""

    task: Floats  # [T]
    step_cost: Floats  # [T]
    repetition: Floats  # [T]
    invalid: Floats  # [T]

    @property
    def total(self) -> Floats:
        return self.task + self.step_cost + self.repetition + self.invalid


def step_rewards(trajectory: Trajectory, settings: RewardSettings = DEFAULT_REWARDS) -> StepRewards:
    """The rewards of a judged trajectory, term by term.

    Success counts as the ending has it: a task that stood done when the steps ran out, without the
    agent saying so, is not one.
    """
    _check_judged(trajectory)
    actions = [decision.action for decision in trajectory.decisions]
    task = np.zeros(len(actions))
    task[-1] = settings.success if trajectory.success else 0.0
    repeated = _repetitions(actions, trajectory.screens, settings.status_bar)
    return StepRewards(
        task=task,
        step_cost=np.full(len(actions), -settings.step_cost),
        repetition=-settings.repetition_penalty * repeated,
        invalid=-settings.invalid_penalty * invalid_steps(trajectory),
    )


def invalid_steps(trajectory: Trajectory) -> Floats:
    """1 where the answer could not be read, else 0, [T]; also the flags of the invalid term."""
    return np.array([isinstance(d.action, Unreadable) for d in trajectory.decisions], np.float64)


def _repetitions(actions: list[Action], screens: tuple[Screen, ...], status_bar: float) -> Floats:
    """1 where the same action met the same screen at an earlier step. Unreadable answers do nothing
    and have a penalty of their own, so they repeat nothing.
    """
    seen: set[tuple[Action, bytes]] = set()
    repeated = np.zeros(len(actions))
    times = Counter(actions)
    for step, action in enumerate(actions):
        if isinstance(action, Unreadable) or times[action] == 1:
            continue  # and its screen stays packed
        deed = (action, _below_status_bar(screens[step], status_bar))
        repeated[step] = deed in seen
        seen.add(deed)
    return repeated


def _below_status_bar(screen: Screen, status_bar: float) -> bytes:
    return screen.pixels[math.ceil(screen.height * status_bar) :].tobytes()


def _check_judged(trajectory: Trajectory) -> None:
    if not trajectory.ending.judged or trajectory.verdict is None:
        raise UsageError(
            f"trajectory {trajectory.id} ended with {trajectory.ending.value} and has "
            f"{'no' if trajectory.verdict is None else 'a'} verdict: it has no reward; keep it out "
            "of training (a fault is never a reward of 0)"
        )
    if not trajectory.decisions:
        raise UsageError(f"trajectory {trajectory.id} has no steps, so there is nothing to reward")
