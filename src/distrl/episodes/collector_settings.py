"""Settings of a collector; an engine makes them from those of the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from distrl.bounds import Bounds, Checked


@dataclass(frozen=True, slots=True)
class CollectorSettings(Checked):
    """How episodes are played."""

    environment: str = ""  # its name, where the run has several; trajectories carry it
    stop_on_success: bool = False  # the judge ends an episode as soon as the task is done
    forks: Annotated[
        int, Bounds(0, 1000, "continuations of each episode, where devices can fork")
    ] = 0
    elements: bool = False  # read the view hierarchy of each screen, for a policy that uses it
    max_attempts: Annotated[
        int, Bounds(1, unit="attempts at a task that faults keep from a verdict")
    ] = 3
    episode_seconds: Annotated[
        float,
        Bounds(0.0, unit="seconds for boot, reset, episode and judging, on a phone", open=True),
    ] = 1800.0
    patience_seconds: Annotated[
        float, Bounds(0.0, unit="seconds for a device that hangs at the collector's end")
    ] = 10.0
