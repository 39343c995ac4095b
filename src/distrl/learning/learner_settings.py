"""Settings of the learner; every default runs on the simulated phone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from distrl.bounds import Bounds, Fixed, Meaning, Seed, check_bounds
from distrl.errors import InvalidSetting
from distrl.learning.targets.rewards import RewardSettings
from distrl.replay.buffer.priority import PriorityWeights
from distrl.weights.staleness import StalenessLimit

Mode = Literal["online", "offline", "offline_to_online"]
DrawChoice = Literal["algorithm", "priority", "uniform"]
Precision = Literal["full", "bf16"]


@dataclass(frozen=True, slots=True)
class LearnerSettings:
    """What a step of the learner draws, updates and publishes.

    Modes: `online` learns from arriving trajectories. `offline` learns from a preloaded corpus and
    ignores arrivals. `offline_to_online` is offline for `offline_updates` updates, then online.

    `precision="bf16"` runs the model under autocast: on a GPU, or on a CPU with AVX512-BF16. The
    model's device and gradient checkpointing are settings of the policy (`agent.policy`).
    """

    batch_trajectories: Annotated[int, Bounds(1, 10**6, "trajectories for each update")] = 16
    draws: Annotated[
        DrawChoice, Meaning("how trajectories are drawn; algorithm: a_ride by priority, others not")
    ] = "algorithm"
    attempts_together: Annotated[
        int, Bounds(1, 10**6, "attempts at one task drawn as a group, for grpo")
    ] = 1
    matched_screens: Annotated[
        bool,
        Meaning("a_ride, vtrace: advantages measured where attempts at a task show one screen"),
    ] = False
    updates_per_publish: Annotated[int, Bounds(1, 10**6, "updates for each weight version")] = 4
    warm_up_updates: Annotated[int, Bounds(0, unit="first updates that move the critic alone")] = 0
    refresh_trajectories: Annotated[
        int, Bounds(0, 10**6, "trajectories re-prioritised after each update")
    ] = 16
    beta: Annotated[
        float, Bounds(0.0, 1.0, "(share of the priorities' bias that is corrected)")
    ] = 0.0
    mode: Mode = "online"
    offline_updates: Annotated[
        int, Bounds(0, unit="updates from the corpus alone, for offline_to_online")
    ] = 0
    precision: Annotated[
        Precision, Meaning("bf16: autocast, for large models on a GPU or a CPU with AVX512-BF16")
    ] = "full"
    seed: Annotated[Seed, Fixed("draws are seeded by run.seed")] = 0
    staleness: StalenessLimit = field(default_factory=StalenessLimit)
    rewards: RewardSettings = field(default_factory=RewardSettings)
    priorities: PriorityWeights = field(default_factory=PriorityWeights)

    def __post_init__(self) -> None:
        check_bounds(self)
        if (self.mode == "offline_to_online") != (self.offline_updates > 0):
            raise InvalidSetting(
                f"learner.offline_updates={self.offline_updates} with mode={self.mode!r}; "
                "offline_to_online needs 1 or more of them, the other modes have none"
            )

    @property
    def draws_per_version(self) -> int:
        return self.batch_trajectories * self.updates_per_publish

    def is_offline(self, updates: int) -> bool:
        """Return whether the update after `updates` others uses the corpus alone."""
        return self.mode == "offline" or updates < self.offline_updates
