"""When a run ends: at the first of its limits, each counted over all of it, resumes included."""

from __future__ import annotations

from dataclasses import dataclass

from distrl.config.sections import RunSettings


@dataclass(frozen=True, slots=True)
class Spent:
    """How far a run has come."""

    seconds: float  # of training
    trajectories: int
    updates: int


def progress(settings: RunSettings, spent: Spent) -> float:
    """The share of the limit that is reached first; 1 or more: the run is over."""
    shares = [spent.seconds / (60.0 * settings.minutes)]
    if settings.trajectories is not None:
        shares.append(spent.trajectories / settings.trajectories)
    if settings.updates is not None:
        shares.append(spent.updates / settings.updates)
    return max(shares)
