"""What the replay hands out: receipts, entries and draws; what it refuses; how it counts bytes."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from distrl.records import Trajectory

RECORD_BYTES = 1_600  # the trajectory, its task and verdict, its id and the replay's own entry
DECISION_BYTES = 350  # with its action and two empty tuples
TOKEN_BYTES = 8 + 32 + 8 + 24  # an int and a float, and a pointer to each
ELEMENT_BYTES = 700  # of the view hierarchy, with its bounds and empty texts


class Outcome(enum.Enum):
    """What became of a trajectory that was offered."""

    STORED = "stored"
    RESENT = "resent"  # it is in already
    NOT_JUDGED = "not_judged"  # a fault ended it, or nobody judged it: nothing to learn from
    EMPTY = "empty"  # no decision in it
    MALFORMED = "malformed"  # an answer without one finite log-probability for each token
    TOO_LARGE = "too_large"  # alone above the byte limit


def flaw(trajectory: Trajectory) -> Outcome | None:
    """Why nothing can be learned from it; None if something can.

    Whatever is in the replay is drawn again and again, so that a trajectory which no batch can be
    made from would stop the learner for ever.
    """
    if not trajectory.ending.judged or trajectory.verdict is None:
        return Outcome.NOT_JUDGED
    if not trajectory.decisions[trajectory.first_step :]:
        return Outcome.EMPTY
    for decision in trajectory.decisions:
        matching = len(decision.token_ids) == len(decision.log_probs)
        if not (matching and math.isfinite(sum(decision.log_probs))):
            return Outcome.MALFORMED
    return None


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
    probability: float  # NaN where groups are drawn with β = 0, and nobody weighs by it
    weight: float
    siblings: tuple[Entry, ...] = ()  # other continuations of the same attempt: see `Branch`
    attempts: tuple[Trajectory, ...] = ()  # others at the same task, newest first, if asked for


def record_bytes(trajectory: Trajectory) -> int:
    """What a trajectory takes in memory beside its screens: an estimate that errs upwards.

    Counted as CPython lays records out on a 64-bit machine; tests compare it with what is really
    allocated. The replay buffer bounds itself by it.
    """
    tokens = sum(len(decision.token_ids) for decision in trajectory.decisions)
    text = sum(len(decision.text) for decision in trajectory.decisions)
    return (
        RECORD_BYTES
        + DECISION_BYTES * len(trajectory.decisions)
        + TOKEN_BYTES * tokens
        + text
        + 2 * len(trajectory.task.instruction)
        + sum(100 + len(note) for note in trajectory.notes)
        + _element_bytes(trajectory)
    )


def _element_bytes(trajectory: Trajectory) -> int:
    """Lists that several screens share count once."""
    lists = {id(elements): elements for elements in trajectory.elements}.values()
    texts = sum(
        len(text)
        for elements in lists
        for each in elements
        for text in (each.text, each.detail, each.value)
    )
    return ELEMENT_BYTES * sum(len(elements) for elements in lists) + 4 * texts
