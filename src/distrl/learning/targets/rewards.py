"""Step rewards of a trajectory: the task's reward, and named costs and penalties.

No loss has reward constants of its own: every term has a name and a setting here. Only judged
trajectories have rewards. One without a verdict (an app crash, a lost device, no judge) is refused;
it never gets reward 0.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from distrl import plugins
from distrl.bounds import Bounds, Checked, Fixed, PartName
from distrl.errors import InvalidPlugin, UsageError
from distrl.plugin_shape import BUILT_IN
from distrl.records import Action, Screen, Trajectory, Unreadable

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RewardSettings(Checked):
    """The reward terms. Costs and penalties are given as positive numbers.

    `kind="terms"` uses the terms below. Any other kind names a registered function, which replaces
    all of them.
    """

    kind: Annotated[str, PartName("reward")] = "terms"
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
    """The reward of each of T steps, by term; costs and penalties are negative here."""

    task: Floats  # [T]
    step_cost: Floats  # [T]
    repetition: Floats  # [T]
    invalid: Floats  # [T]

    @property
    def total(self) -> Floats:
        return self.task + self.step_cost + self.repetition + self.invalid


def step_rewards(trajectory: Trajectory, settings: RewardSettings = DEFAULT_REWARDS) -> StepRewards:
    """Return the rewards of a judged trajectory, by term.

    Success is that of the ending: a task that was done when the step limit was reached, without the
    agent saying so, is not a success.
    """
    _check_judged(trajectory)
    if settings.kind not in BUILT_IN["reward"]:
        return _registered_rewards(trajectory, settings.kind)
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


def _registered_rewards(trajectory: Trajectory, kind: str) -> StepRewards:
    """Return the rewards of a registered function; all of them count as the task's reward."""
    given = np.asarray(plugins.find("reward", kind)(trajectory), np.float64)
    if given.shape != (len(trajectory.decisions),) or not np.isfinite(given).all():
        raise InvalidPlugin(
            f"the reward {kind!r} gave {given!r:.80} for trajectory {trajectory.id}; it has to "
            f"give {len(trajectory.decisions)} finite numbers, one for each decision"
        )
    none = np.zeros_like(given)
    return StepRewards(task=given, step_cost=none, repetition=none, invalid=none)


def invalid_steps(trajectory: Trajectory) -> Floats:
    """Return 1 where the answer could not be read, else 0, [T]; A-RIDE's loss uses it too."""
    return np.array([isinstance(d.action, Unreadable) for d in trajectory.decisions], np.float64)


def _repetitions(actions: list[Action], screens: tuple[Screen, ...], status_bar: float) -> Floats:
    """Return 1 where an earlier step had the same action on the same screen. Unreadable answers do
    not count: they do nothing and have a penalty of their own.
    """
    seen: set[tuple[Action, bytes]] = set()
    repeated = np.zeros(len(actions))
    times = Counter(actions)
    for step, action in enumerate(actions):
        if isinstance(action, Unreadable) or times[action] == 1:
            continue  # without decompressing its screen
        deed = (action, below_status_bar(screens[step], status_bar))
        repeated[step] = deed in seen
        seen.add(deed)
    return repeated


def below_status_bar(screen: Screen, status_bar: float) -> bytes:
    """Return the pixels below the status bar (with its clock), given its share of the height."""
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
