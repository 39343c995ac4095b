"""Settings of the learner; every default runs on the simulated phone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from distrl.errors import InvalidSetting
from distrl.learning.targets.rewards import RewardSettings
from distrl.replay.buffer.priority import PriorityWeights
from distrl.weights.staleness import StalenessLimit

Mode = Literal["online", "offline", "offline_to_online"]
Precision = Literal["full", "bf16"]


@dataclass(frozen=True, slots=True)
class LearnerSettings:
    """What a step of the learner draws, updates and publishes.

    Modes: `online` learns from arriving trajectories. `offline` learns from a preloaded corpus and
    ignores arrivals. `offline_to_online` is offline for `offline_updates` updates, then online.

    `precision="bf16"` runs the model under autocast on a GPU. The model's device and
    gradient checkpointing are settings of the policy (`agent.policy`).
    """

    batch_trajectories: int = 16  # drawn for each update; 1 or more
    attempts_together: int = 1  # at one task, drawn as a group (for grpo); 1 or more
    updates_per_publish: int = 4  # 1 or more
    warm_up_updates: int = 0  # the first ones, which move the critic alone; 0 or more
    refresh_trajectories: int = 16  # re-prioritised after each update beside the drawn; 0 or more
    beta: float = 0.0  # how much of the preference of the draws is corrected for; in [0, 1]
    mode: Mode = "online"
    offline_updates: int = 0  # for offline_to_online alone, there 1 or more
    precision: Precision = "full"
    seed: int = 0  # of the draws; 0 or more
    staleness: StalenessLimit = field(default_factory=StalenessLimit)
    rewards: RewardSettings = field(default_factory=RewardSettings)
    priorities: PriorityWeights = field(default_factory=PriorityWeights)

    def __post_init__(self) -> None:
        least = {
            "batch_trajectories": 1,
            "attempts_together": 1,
            "updates_per_publish": 1,
            "warm_up_updates": 0,
            "refresh_trajectories": 0,
            "offline_updates": 0,
            "seed": 0,
        }
        for name, lowest in least.items():
            if getattr(self, name) < lowest:
                raise InvalidSetting(
                    f"learner.{name}={getattr(self, name)!r}; give {lowest} or more"
                )
        if not 0.0 <= self.beta <= 1.0:  # also refuses NaN
            raise InvalidSetting(f"learner.beta={self.beta!r}; give a number in [0, 1]")
        self._check_choices()

    def _check_choices(self) -> None:
        if self.mode not in ("online", "offline", "offline_to_online"):
            raise InvalidSetting(
                f"learner.mode={self.mode!r}; give online, offline or offline_to_online"
            )
        if self.precision not in ("full", "bf16"):
            raise InvalidSetting(f"learner.precision={self.precision!r}; give full or bf16")
        if (self.mode == "offline_to_online") != (self.offline_updates > 0):
            raise InvalidSetting(
                f"learner.offline_updates={self.offline_updates} with mode={self.mode!r}; "
                "offline_to_online needs 1 or more of them, the other modes have none"
            )

    @property
    def draws_per_version(self) -> int:
        return self.batch_trajectories * self.updates_per_publish

    def is_offline(self, updates: int) -> bool:
        """Does the update after `updates` others use the corpus alone?"""
        return self.mode == "offline" or updates < self.offline_updates
