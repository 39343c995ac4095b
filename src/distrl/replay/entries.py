"""What the replay hands out: a receipt for what was offered, entries and draws of what is in."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from distrl.records import Trajectory


class Outcome(enum.Enum):
    """What became of a trajectory that was offered."""

    STORED = "stored"
    RESENT = "resent"  # it is in already
    NOT_JUDGED = "not_judged"  # a fault ended it: nothing to learn from
    EMPTY = "empty"  # no decision in it
    TOO_LARGE = "too_large"  # alone above the byte limit


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to an insert: where the trajectory is, and who had to leave for it (ids)."""

    outcome: Outcome
    slot_id: int | None = None
    evicted: tuple[str, ...] = ()

    @property
    def held(self) -> bool:
        """Is it in the replay now?"""
        return self.slot_id is not None


@dataclass(frozen=True, slots=True)
class Entry:
    """A trajectory in its slot."""

    slot_id: int
    trajectory: Trajectory
    priority: float
    times_drawn: int


@dataclass(frozen=True, slots=True)
class Draw:
    """A trajectory that was drawn: how likely that was, how often it was (this batch included).

    `weight` corrects for the preference: (N · P)^−β, divided by the largest of the batch.
    """

    slot_id: int
    trajectory: Trajectory
    priority: float
    times_drawn: int
    probability: float
    weight: float
