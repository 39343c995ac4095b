"""Several actions at one state, each tried for one step: an arm of `benchmarks.forks`.

At a drawn step of an episode (the same draw as that of forks) K actions are compared: the one that
the episode took, and K − 1 more that are sampled from the policy, each tried for one step on the
phone, which is restored in between. The value of an action is its reward and the critic's value of
the screen after it; its advantage is that value less the mean of the group's:

    q_k = r_k + γ·V(s'_k), r_k alone where the episode ended;    A_k = q_k − mean of the group's q

The idea is that of Android Coach (arXiv 2604.07277), of which we know the abstract alone. Taken
from it: several actions of the policy for one state that was played, a critic that values them, and
advantages within the group of a state, from the mean of the critic's values. Different here:

- theirs rates actions that nobody plays, by a critic of actions, without emulator time; ours is a
  critic of states, as everywhere in DistRL, so that each action is tried. A tried action counts as
  a decision, and its step as device time;
- theirs has a process reward model to help its critic; ours learns from rewards and its own values;
- one state of each episode has a group, not every state; elsewhere advantages are A-RIDE's own.

A tried action is a fork that was truncated after one step, so that replay, draws and critic treat
it as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from benchmarks.errand_phone import ErrandJudge, ErrandPhone
from distrl.episodes.episode import Episode
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.episodes.trajectory_sink import TrajectorySink
from distrl.learning.algorithms.a_ride import ARide
from distrl.learning.batch import Batch, observation_of
from distrl.learning.gradient_step import BatchScores
from distrl.learning.losses.averages import minimum_of_heads
from distrl.learning.targets.rewards import RewardSettings, step_rewards
from distrl.records import Trajectory
from distrl.task_sets.curriculum import TaskSource


class ActionTrier:
    """Plays episodes on the phones in turn, and tries `more` further actions in each."""

    def __init__(
        self,
        name: str,
        batcher: PolicyBatcher,
        phones: Sequence[ErrandPhone],
        source: TaskSource,
        sink: TrajectorySink,
        more: int,
    ) -> None:
        self._name = name
        self._batcher = batcher
        self._phones = phones
        self._source = source
        self._sink = sink
        self._more = more
        self._played = 0

    def play(self) -> None:
        """Play one episode, and try further actions at one of its steps."""
        self._batcher.update_weights()
        phone = self._phones[self._played % len(self._phones)]
        self._played += 1
        task, name = self._source.next_task(), f"{self._name}/{self._played}"
        judge = ErrandJudge(phone)
        episode = Episode.begin(task, phone, judge, episode_id=name, forks=True)
        self._sink.put(self._ended(episode))
        for tried in episode.forks(self._more):
            tried.task = replace(task, step_limit=len(tried.decisions) + 1)
            self._sink.put(self._ended(tried))

    def _ended(self, episode: Episode) -> Trajectory:
        while not episode.ended:
            [decision] = self._batcher.decide([episode.observation])
            episode.take(decision)
        return episode.trajectory()


class Groups:
    """Trajectories by attempt id, which gives all actions at a state."""

    def __init__(self) -> None:
        self._members: dict[str, list[Trajectory]] = {}

    def add(self, trajectory: Trajectory) -> None:
        self._members.setdefault(trajectory.attempt_id, []).append(trajectory)

    def of(self, trajectory: Trajectory) -> tuple[int, list[Trajectory]]:
        """Return the shared step and the group's trajectories; none if nothing was tried."""
        members = self._members[trajectory.attempt_id]
        steps = {each.branch.step for each in members if each.branch is not None}
        return (steps.pop(), members) if steps else (0, [])


@dataclass(eq=False)
class TriedActions(ARide):
    """A-RIDE with the group's advantages at states where several actions were tried."""

    rewards: RewardSettings = field(default_factory=RewardSettings)
    groups: Groups = field(default_factory=Groups)

    def _advantages(self, batch: Batch, current: BatchScores, targets: Tensor) -> Tensor:  # [b, t]
        found = torch.where(batch.mask, targets - current.values[:, :-1], 0.0)
        for row, drawn in enumerate(batch.trajectories):
            step, members = self.groups.of(drawn)
            if members:
                mine = next(n for n, each in enumerate(members) if each.id == drawn.id)
                values = self._values(members, step)
                found[row, step - drawn.first_step] = values[mine] - values.mean()
        return found

    def _values(self, members: Sequence[Trajectory], step: int) -> Tensor:  # [members]
        """Return q of the action that each member took at the step."""
        earned = [step_rewards(each, self.rewards).total[step] for each in members]
        ended = [each.ending.terminated and len(each.decisions) == step + 1 for each in members]
        with torch.no_grad():
            logits = self.step.policy.value_logits([observation_of(m, step + 1) for m in members])
        after = minimum_of_heads(logits.sigmoid())
        return torch.tensor(earned).float() + self.discount * after * ~torch.tensor(ended)
