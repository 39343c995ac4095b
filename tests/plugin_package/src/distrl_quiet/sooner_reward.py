"""A reward of our own: the sooner, the better."""

from __future__ import annotations

from distrl.records import Trajectory


def sooner(trajectory: Trajectory) -> list[float]:
    rewards = [-0.1] * len(trajectory.decisions)
    rewards[-1] += 1.0 if trajectory.success else 0.0
    return rewards
