"""The whole circle in one process: a small world, a policy that collects and one that learns."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import torch
from benchmarks.small_world import (
    REWARDS,
    SmallWorld,
    Solution,
    action_probabilities,
    new_policy,
)
from torch import Tensor

from distrl.learning.algorithms.a_ride import ARide, ARideSettings
from distrl.learning.algorithms.algorithm import Algorithm
from distrl.learning.batch_prefetcher import BatchPrefetcher
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.learning.learner import Learner
from distrl.learning.learner_report import LearnerReport, Waiting
from distrl.learning.learner_settings import LearnerSettings
from distrl.learning.process_group import ProcessGroup
from distrl.records import Trajectory
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.buffer.replay_buffer import ReplayBuffer, ReplaySettings

DISCOUNT = 0.9
torch.set_num_threads(1)  # tables are so small that threads only wait for each other


def a_ride(step: GradientStep) -> ARide:
    """With signed advantages, which find the best policy of this world; a filter stops short."""
    return ARide(step, ARideSettings(discount=DISCOUNT, advantage="signed"))


class SmallCircle:
    """Collects with the last weights that were published; the learner's own are elsewhere."""

    def __init__(
        self,
        world_seed: int = 0,
        *,
        pacing: Pacing | None = None,
        capacity: int = 500,
        byte_limit: int = 2**30,
        learning_rate: float = 0.1,
        critic_learning_rate: float = 0.05,
        make: Callable[[GradientStep], Algorithm] = a_ride,
        process_group: ProcessGroup | None = None,
        prefetcher: BatchPrefetcher | None = None,
        **settings: Any,
    ) -> None:
        self.seed = world_seed
        self.world = SmallWorld()
        self.collector = new_policy(world_seed)
        self.arrivals: deque[Trajectory] = deque()
        self.kept: dict[str, Trajectory] = {}  # all that was ever collected, as on a disk
        self.versions: list[int] = []
        self.published: list[Mapping[str, Tensor]] = []
        policy = new_policy(world_seed)
        step = GradientStep(
            policy,
            StepSettings(learning_rate=learning_rate, critic_learning_rate=critic_learning_rate),
            process_group,
        )
        self.policy = policy
        self.learner = Learner(
            policy,
            make(step),
            step,
            ReplayBuffer(ReplaySettings(capacity=capacity, byte_limit=byte_limit)),
            pacing or Pacing(samples_per_insert=4.0, minimum_fill=16),
            self.arrivals,
            self,
            LearnerSettings(
                **{
                    "seed": world_seed,
                    "rewards": REWARDS,
                    "refresh_trajectories": 4,
                    **settings,
                }
            ),
            prefetcher=prefetcher,
        )

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None:
        self.versions.append(version)
        self.published.append(weights)
        self.collector.load_weights(weights, version)

    def collect(self, name: int | str, count: int = 4) -> list[Trajectory]:
        """Episodes that depend on the weights and the name alone, not on what came before."""
        self.collector.seed(f"{self.seed}/{name}")
        made = self.world.episodes(self.collector, count, f"{self.seed}/{name}")
        self.kept |= {each.id: each for each in made}
        self.arrivals.extend(made)
        return made

    def rounds(self, first: int, last: int) -> list[LearnerReport | Waiting]:
        """Collect a little and step, for each of these rounds."""
        answers = []
        for number in range(first, last):
            self.collect(number)
            answers.append(self.learner.step())
        return answers

    def success_rate(self) -> float:
        """Of the learner's policy, exactly."""
        return Solution(DISCOUNT).success_rate(action_probabilities(self.policy))


def ask(circle: SmallCircle) -> LearnerReport:
    """A step that must be an update."""
    report = circle.learner.step()
    assert isinstance(report, LearnerReport)
    return report
