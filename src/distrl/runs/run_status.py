"""How a run stands at one moment: what the engine tells, and what the live view shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from distrl.episodes.outcome import SuccessRate


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A frozen look at a run. Figures "of late" are over the last few minutes."""

    name: str
    phase: str  # what it does, in a few words: evaluating before training, training, …
    seconds: float  # since the start, by the run's own clock
    progress: float  # of the limit that is reached first; in [0, 1]
    success: SuccessRate  # of training episodes of late
    success_before: SuccessRate | None  # of the evaluation before training
    success_history: tuple[float, ...]  # rates over equal spans of the run so far, oldest first
    trajectories: int
    trajectories_per_minute: float  # of late
    updates: int
    weight_version: int
    step_seconds: float  # one update of the learner, of late
    devices: int
    device_busy: float  # share of device time at work, of late; the rest waits for a decision
    quarantined: int  # devices that failed too often
    staleness_mean: float  # weight versions, of late
    staleness_max: int
    queue: int  # trajectories that wait for the learner
    replay: int  # trajectories in the replay
    faults: Mapping[str, int] = field(default_factory=dict)  # since the start, by name
    seconds_left: float | None = None  # of training, as far as anybody can say
    placement: str = ""  # which part is on which node, where there are several
