"""A batch of whole trajectories for the algorithms: padded arrays, and turns to be scored.

Row i is trajectory i, column t its t-th decision. A batch has all steps of a trajectory, the
rewarded last one included. Of a branch it has only the branch's own steps, so column 0 is its
`first_step`; the steps that it shares with its parent are trained on when the parent is drawn.
`turns` lists the real steps row by row, so that models see no padding; `scatter` puts results for
turns back into rows and columns. The arrays are on the CPU, where targets and weights are computed:
they are tiny beside what a model computes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from distrl.errors import UsageError
from distrl.learning.targets.advantages import Continuation
from distrl.learning.targets.rewards import (
    DEFAULT_REWARDS,
    Floats,
    RewardSettings,
    invalid_steps,
    step_rewards,
)
from distrl.records import Decision, Ending, Observation, Trajectory, observation_after
from distrl.replay.buffer.entries import Draw, Entry


@dataclass(frozen=True, slots=True)
class Turn:
    """One decision to be scored: the observation, and the tokens of the answer."""

    row: int
    column: int
    observation: Observation
    token_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Continuations:
    """The outcome of a trajectory from a step on, and those of others that continued from there."""

    row: int
    column: int
    own: Continuation
    others: tuple[Continuation, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """b trajectories of up to t steps with up to k tokens each."""

    trajectories: tuple[Trajectory, ...]
    turns: tuple[Turn, ...]
    finals: tuple[Observation, ...]  # the last screen of each trajectory, b of them
    mask: Tensor  # [b, t] bool: a real step
    rewards: Tensor  # [b, t]
    invalid: Tensor  # [b, t]: 1 where the answer could not be read
    bootstrap: Tensor  # [b] bool: truncated, so that the value of the last screen is added
    outcomes: Tensor  # [b]: 1 for success
    behaviour_log_probs: Tensor  # [b, t, k], as sampled
    token_mask: Tensor  # [b, t, k] bool
    weights: Tensor  # [b]: importance weights of prioritised draws; 1 where none are needed
    weight_versions: Tensor  # [b]: of the policy that acted
    continuations: tuple[Continuations, ...] = ()

    @property
    def shape(self) -> tuple[int, int, int]:
        b, t, k = self.token_mask.shape
        return b, t, k

    @property
    def places(self) -> tuple[Tensor, Tensor]:
        """Row and column of every turn, in the order of the mask, row by row."""
        rows, columns = self.mask.nonzero(as_tuple=True)
        return rows, columns

    def with_values(self, values: Tensor) -> dict[str, Tensor]:
        """Return the inputs of target and advantage functions, by their parameter names."""
        return {
            "values": values,
            "rewards": self.rewards,
            "mask": self.mask,
            "bootstrap": self.bootstrap,
        }

    @property
    def step_outcomes(self) -> Tensor:
        """`outcomes` for every step, [b, t]."""
        return self.outcomes.unsqueeze(1).expand_as(self.mask)

    @property
    def draw_weights(self) -> Tensor:
        """`weights` for every step, [b, t]."""
        return self.weights.unsqueeze(1).expand_as(self.mask)

    def scatter(self, turn_values: Tensor) -> Tensor:
        """Map [n, ...] of the turns to [b, t, ...], 0 in the padding. Gradients pass through."""
        b, t, _ = self.shape
        out = turn_values.new_zeros((b, t, *turn_values.shape[1:]))
        return out.index_put(self.places, turn_values)

    def gather(self, values: Tensor) -> Tensor:
        """Map [b, t, ...] to [n, ...] of the turns."""
        return values[self.places]


def batch_of_draws(
    draws: Sequence[Draw | Entry],
    earned: Sequence[Floats],
    continuations: Sequence[Continuations] = (),
) -> Batch:
    """Build a batch from draws or entries of the replay and the rewards of each step."""
    weights = [draw.weight if isinstance(draw, Draw) else 1.0 for draw in draws]
    made = _batch([draw.trajectory for draw in draws], earned, weights)
    return replace(made, continuations=tuple(continuations))


def batch_of(
    trajectories: Sequence[Trajectory],
    rewards: RewardSettings = DEFAULT_REWARDS,
    weights: Sequence[float] | None = None,
) -> Batch:
    """Build a batch from trajectories. Raise `UsageError` for one that was not judged."""
    given = [1.0] * len(trajectories) if weights is None else weights
    return _batch(trajectories, [step_rewards(each, rewards).total for each in trajectories], given)


def continuations_of(draws: Sequence[Draw]) -> list[Continuations]:
    """Return each step of these draws from which siblings in the replay continued too."""
    found = []
    for row, draw in enumerate(draws):
        first = draw.trajectory.first_step
        branched = [each.trajectory.branch for each in draw.siblings]
        steps = {each.step for each in (draw.trajectory.branch, *branched) if each is not None}
        for step in sorted(steps if draw.trajectory.branch is None else {first}):
            others = [each for each in draw.siblings if each.trajectory.first_step in (0, step)]
            others = [each for each in others if len(each.trajectory.decisions) > step]
            if others and step < len(draw.trajectory.decisions):
                rest = tuple(continued(each.trajectory, step) for each in others)
                own = continued(draw.trajectory, step)
                found.append(Continuations(row, step - first, own, rest))
    return found


def continued(trajectory: Trajectory, step: int) -> Continuation:
    """Return the remaining steps and the outcome of a trajectory from a step on."""
    return Continuation(len(trajectory.decisions) - step, trajectory.success)


def _batch(
    trajectories: Sequence[Trajectory], earned: Sequence[Floats], weights: Sequence[float]
) -> Batch:
    if not trajectories:
        raise UsageError("a batch needs at least one trajectory")
    if not len(weights) == len(earned) == len(trajectories):
        raise ValueError(
            f"{len(weights)} weights and {len(earned)} rows of rewards for {len(trajectories)} "
            "trajectories"
        )
    firsts = [each.first_step for each in trajectories]
    own = [each[first:] for each, first in zip(earned, firsts, strict=True)]
    return Batch(
        trajectories=tuple(trajectories),
        turns=tuple(turn for row, each in enumerate(trajectories) for turn in _turns(row, each)),
        finals=tuple(observation_of(each, len(each.decisions)) for each in trajectories),
        mask=_padded([np.ones(len(each), np.bool_) for each in own]),
        rewards=_padded(own).float(),
        invalid=_padded([invalid_steps(each)[each.first_step :] for each in trajectories]).float(),
        bootstrap=torch.tensor([each.ending.truncated for each in trajectories]),
        outcomes=torch.tensor([float(each.ending is Ending.SUCCESS) for each in trajectories]),
        weights=torch.tensor(list(weights)),
        weight_versions=torch.tensor([each.weight_version for each in trajectories]),
        continuations=(),
        **_token_arrays(trajectories),
    )


def _padded(rows: Sequence[NDArray[Any]]) -> Tensor:
    """Stack rows of different lengths, padded on the right with 0 or False, [b, t]."""
    out = np.zeros((len(rows), max(len(row) for row in rows)), rows[0].dtype)
    for place, row in zip(out, rows, strict=True):
        place[: len(row)] = row
    return torch.from_numpy(out)


def _token_arrays(trajectories: Sequence[Trajectory]) -> dict[str, Tensor]:
    """Return the log-probs as sampled and their mask, [b, t, k] with k ≥ 1."""
    own = [each.decisions[each.first_step :] for each in trajectories]
    steps = max(len(each) for each in own)
    decisions = [decision for each in own for decision in each]
    tokens = max(1, max(len(decision.token_ids) for decision in decisions))
    log_probs = np.zeros((len(trajectories), steps, tokens))
    mask = np.zeros(log_probs.shape, np.bool_)
    for row, each in enumerate(trajectories):
        for column, decision in enumerate(own[row]):
            length = _answer_length(each, decision)
            log_probs[row, column, :length] = decision.log_probs
            mask[row, column, :length] = True
    return {
        "behaviour_log_probs": torch.from_numpy(log_probs).float(),
        "token_mask": torch.from_numpy(mask),
    }


def _answer_length(trajectory: Trajectory, decision: Decision) -> int:
    if len(decision.token_ids) != len(decision.log_probs):
        raise UsageError(
            f"trajectory {trajectory.id}: an answer of {len(decision.token_ids)} tokens has "
            f"{len(decision.log_probs)} log-probabilities; record one for each as it is sampled"
        )
    return len(decision.token_ids)


def _turns(row: int, trajectory: Trajectory) -> list[Turn]:
    first = trajectory.first_step
    return [
        Turn(row, column, observation_of(trajectory, first + column), decision.token_ids)
        for column, decision in enumerate(trajectory.decisions[first:])
    ]


def observation_of(trajectory: Trajectory, step: int) -> Observation:
    """Rebuild the observation of the policy at a step of a trajectory."""
    return observation_after(
        trajectory.task.instruction,
        [decision.action for decision in trajectory.decisions[:step]],
        trajectory.screens[: step + 1],
        trajectory.elements[: step + 1],
    )


class EarnedRewards:
    """An LRU cache of step rewards for the last `most` replay slots.

    A trajectory is drawn and refreshed many times and its rewards never change, but to find
    repeated actions its screens must be decoded, which takes longer than all other arithmetic
    around a batch. A slot id belongs to one trajectory for ever, so it is the key; call `forget`
    when the replay is filled anew. Thread-safe.
    """

    def __init__(self, settings: RewardSettings, most: int) -> None:
        self.settings = settings
        self.most = most
        self._known: OrderedDict[int, Floats] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._known)

    def of(self, entries: Sequence[Draw | Entry]) -> list[Floats]:  # [T] each
        """Return the total reward of every step of these trajectories."""
        return [self._of(entry) for entry in entries]

    def forget(self) -> None:
        with self._lock:
            self._known.clear()

    def _of(self, entry: Draw | Entry) -> Floats:
        with self._lock:
            earned = self._known.pop(entry.slot_id, None)
        if earned is None:
            earned = step_rewards(entry.trajectory, self.settings).total
            earned.flags.writeable = False
        with self._lock:
            self._known[entry.slot_id] = earned  # most recently used
            if len(self._known) > self.most:
                self._known.popitem(last=False)
        return earned
