"""The status of a run at one moment, and the view that an engine shows it on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from distrl.episodes.outcome import SuccessRate

WORKS, WAITS, FAILING, AWAY = PHONE_SIGNS = "●·!×"  # a phone since the last refresh


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A snapshot of a run. "Recent" is the last few minutes."""

    name: str
    phase: str  # evaluating before training, training, …
    seconds: float  # since the start, by the run's own clock
    progress: float  # of the limit that is reached first; in [0, 1]
    success: SuccessRate  # of recent training episodes
    success_before: SuccessRate | None  # of the evaluation before training
    success_history: tuple[float, ...]  # rates over equal spans, oldest first; NaN: no episode
    trajectories: int
    trajectories_per_minute: float  # recent
    updates: int
    weight_version: int
    step_seconds: float  # one recent update of the learner
    devices: int
    phone_time: Mapping[str, float]  # shares by stage (`run_account`); empty: not known yet
    learner_time: Mapping[str, float]
    quarantined: int  # devices that failed too often
    staleness: float  # weight versions, of what recent updates drew
    effective_sample_share: float  # of the turns of recent updates, by their ratios
    queue: int  # trajectories waiting for the learner
    replay: int  # trajectories in the replay
    faults: Mapping[str, int] = field(default_factory=dict)  # since the start, by name
    seconds_left: float | None = None  # of training; None: no estimate yet
    evaluating: str = ""  # what is evaluated beside training: its stage, episodes so far and in all
    placement: str = ""  # which part is on which node of a cluster
    detail: str = ""  # what is special about the phase: warm-up, waiting, resumed
    history_seconds: float = 0.0  # of one span of the history
    gpu_gigabytes: float = 0.0  # in use on the learner's GPU by any process; 0: no GPU
    gpu_memory_share: float = 0.0  # of all that it has
    success_by_environment: Mapping[str, SuccessRate] = field(default_factory=dict)  # of `success`
    phones: str = ""  # a sign for each phone, in the order of their names (`PHONE_SIGNS`)


class RunView(AbstractContextManager["RunView"], Protocol):
    """Shows a status: on a terminal (`live_view`), or by a proxy that forwards it to one.

    It is a context manager, entered while a run has something to show. `say` is thread-safe.
    """

    def show(self, status: RunStatus) -> None: ...

    def say(self, sentence: str) -> None: ...
