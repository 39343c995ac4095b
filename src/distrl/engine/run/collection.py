"""What a training run wants of whoever collects for it, whichever way that is done."""

from __future__ import annotations

from typing import Protocol

from distrl.engine.ingest.messages import Pace
from distrl.episodes.collector_report import CollectorReport
from distrl.learning.learner import Learner

MAX_IN_FLIGHT = 1 << 20


class Collection(Protocol):
    """Brings trajectories into the arrivals of a learner."""

    def start(self) -> None:
        """Begin; trajectories may come from now on."""
        ...

    def pace(self, learner: Learner) -> None:
        """The learner has gone a step further."""
        ...

    def wait(self, seconds: float) -> bool:
        """The learner needs more: wait so long at most; True if it is worth another look."""
        ...

    def stop(self, finish_within: float) -> None:
        """End; episodes may go on for so long. Afterwards nothing more arrives."""
        ...

    def reports(self) -> list[CollectorReport]:
        """How the collectors stand, as far as they have told."""
        ...

    def device_seconds(self) -> tuple[float, float]:
        """Seconds that devices were at work, and seconds that they were there, in all."""
        ...

    def states(self) -> dict[int, str]:
        """What each collector would go on from (JSON), by number; for checkpoints."""
        ...


def pace_of(learner: Learner) -> Pace:
    """Who may start an episode, as far as the learner's limit on staleness goes."""
    limit = learner.settings.staleness.at_start
    if limit is None:
        return Pace(learner.version, free=learner.may_start(learner.version, 0))
    behind = range(limit + 1)
    return Pace(learner.version, tuple(_room(learner, learner.version - each) for each in behind))


def _room(learner: Learner, version: int) -> int:
    """The most in flight behind which one more may start with weights of that version; or -1."""
    if not learner.may_start(version, 0):
        return -1
    low, high = 0, 1
    while learner.may_start(version, high):
        low, high = high, 2 * high
        if high > MAX_IN_FLIGHT:
            return low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if learner.may_start(version, middle) else (low, middle)
    return low
