"""Settings of a collector; an engine derives them from those of the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from distrl.bounds import Bounds, Checked


@dataclass(frozen=True, slots=True)
class CollectorSettings(Checked):
    """How episodes are played."""

    environment: str = ""  # its name, if the run has several; recorded in trajectories
    stop_on_success: bool = False  # end an episode as soon as the judge finds the task done
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
