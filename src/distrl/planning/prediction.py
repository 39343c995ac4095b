"""What a simulated system came to: rates, shares of time, staleness, network and memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from distrl.planning.plan_settings import PlanSettings

TRAINED_COPIES = 3  # gradients and two moments of AdamW, beside the weights
PHONE_WORK = ("reset", "act")
MEGABIT = 1e6 / 8


@dataclass(frozen=True, slots=True)
class StalenessSpread:
    """Versions behind, of the trajectories that arrived."""

    mean: float
    median: float
    high: float  # the 95th of a hundred
    most: int
    learned: float  # the mean of what was drawn, from a replay without priorities

    @classmethod
    def of(cls, arrived: list[int], learned: list[float]) -> StalenessSpread:
        values = np.asarray(arrived or [0])
        return cls(
            mean=float(values.mean()),
            median=float(np.median(values)),
            high=float(np.quantile(values, 0.95)),
            most=int(values.max()),
            learned=float(np.mean(learned)) if learned else 0.0,
        )


@dataclass(frozen=True, slots=True)
class Prediction:
    """One system, over the time that was counted. Seconds are those of the devices' clock."""

    phones: int
    policy_gpus: int
    learner_gpus: int
    seconds: float  # that were counted, after the warm-up
    episodes: int  # that were counted
    trajectories_per_minute: float
    decisions_per_second: float
    updates_per_minute: float
    versions_per_minute: float
    mean_batch: float
    episode_seconds: float
    in_flight: float
    device_busy: float  # share of the phones' time, as `CollectorReport.device_busy`
    policy_busy: float
    policy_load: float  # decisions, as a share of what full batches without pause would make
    learner_idle: float
    samples_per_insert: float
    stale_share: float  # of the trajectories: came too late to be learned from
    phone_time: dict[str, float]  # shares of a phone's time, by what it does or waits for
    staleness: StalenessSpread
    to_learner_megabits: float  # a second
    from_learner_megabits: float
    broadcast_seconds: float  # until the last node has a version
    learner_gigabytes: float
    node_gigabytes: float  # of a machine with phones and collectors

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def broadcast_seconds(settings: PlanSettings) -> tuple[float, ...]:
    """When each node has new weights, counted from their publication."""
    network, nodes = settings.network, settings.collectors.nodes
    once = network.weight_megabytes * 1e6 / (network.link_megabits * MEGABIT)
    if network.broadcast == "star":
        return tuple(once * (place + 1) for place in range(nodes))
    return tuple(once * (place + 1).bit_length() for place in range(nodes))


def trajectory_bytes(settings: PlanSettings, decisions: float) -> float:
    """T decisions have T + 1 screens."""
    return (decisions + 1) * settings.network.screen_kilobytes * 1e3


def learner_gigabytes(settings: PlanSettings, decisions: float) -> float:
    """A full replay; the weights, whatever is trained of them, and what optimisers keep."""
    if not settings.learner.gpus:
        return 0.0
    replay = settings.learner.capacity * trajectory_bytes(settings, decisions) / 1e9
    trained = min(settings.policy.gigabytes, settings.network.weight_megabytes / 1e3)
    return replay + settings.policy.gigabytes + TRAINED_COPIES * trained


def node_gigabytes(settings: PlanSettings) -> float:
    """Phones, collectors and copies of the policy, spread evenly over the machines."""
    collectors = settings.collectors.count * settings.collectors.gigabytes
    phones = settings.phones.count * settings.phones.gigabytes
    copies = settings.policy.copies * settings.policy.gigabytes
    return (collectors + phones + copies) / settings.collectors.nodes
