"""Records of the replay buffer (receipts, entries, draws), its checks, and its byte estimates."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from distrl.records import Trajectory

RECORD_BYTES = 1_600  # a trajectory with its task, verdict and id, and the buffer's own entry
DECISION_BYTES = 350  # a decision with its action and two empty tuples
TOKEN_BYTES = 8 + 32 + 8 + 24  # an int and a float, and a pointer to each
ELEMENT_BYTES = 700  # an element of the view hierarchy, with its bounds and empty texts


class Outcome(enum.Enum):
    """The result of an insert."""

    STORED = "stored"
    RESENT = "resent"  # it is already in the buffer
    NOT_JUDGED = "not_judged"  # a fault ended it, or it has no verdict: nothing to learn from
    EMPTY = "empty"  # it has no decisions
    MALFORMED = "malformed"  # an answer does not have one finite log-probability for each token
    TOO_LARGE = "too_large"  # it alone exceeds the byte limit


def flaw(trajectory: Trajectory) -> Outcome | None:
    """Return why a trajectory cannot be trained on, or None if it can.

    Everything in the buffer is drawn again and again, so a trajectory from which no batch can be
    built would stop the learner for good.
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
    """The result of an insert: the slot of the trajectory, and the ids that it evicted."""

    outcome: Outcome
    slot_id: int | None = None
    evicted: tuple[str, ...] = ()

    @property
    def held(self) -> bool:
        """Whether the trajectory is in the buffer now."""
        return self.slot_id is not None


@dataclass(frozen=True, slots=True)
class Entry:
    """A trajectory in the buffer, with its slot and counters."""

    slot_id: int
    trajectory: Trajectory
    priority: float
    times_drawn: int


@dataclass(frozen=True, slots=True)
class Draw:
    """A drawn trajectory, its probability P, and how often it was drawn (this batch included).

    `weight` corrects for non-uniform sampling: (N · P)^−β, divided by the largest of the batch.
    """

    slot_id: int
    trajectory: Trajectory
    priority: float
    times_drawn: int
    probability: float  # NaN where groups are drawn with β = 0, and nobody weighs by it
    weight: float
    siblings: tuple[Entry, ...] = ()  # other continuations of the same attempt: see `Branch`
    attempts: tuple[Trajectory, ...] = ()  # other attempts at the task, newest first, if requested


def record_bytes(trajectory: Trajectory) -> int:
    """Estimate the memory of a trajectory without its screens; the estimate errs upwards.

    It follows the object layout of CPython on a 64-bit machine; tests compare it with real
    allocations. The replay buffer enforces its byte limit with it.
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
    """Estimate the memory of all elements; a list that several screens share counts once."""
    lists = {id(elements): elements for elements in trajectory.elements}.values()
    texts = sum(
        len(text)
        for elements in lists
        for each in elements
        for text in (each.text, each.detail, each.value)
    )
    return ELEMENT_BYTES * sum(len(elements) for elements in lists) + 4 * texts
