"""What a trajectory takes in memory beside its screens: an estimate that errs upwards.

Counted as CPython lays records out on a 64-bit machine; tests hold it against what really is
allocated. The replay buffer bounds itself by it.
"""

from __future__ import annotations

from distrl.records import Trajectory

RECORD_BYTES = 1_600  # the trajectory, its task and verdict, its id and the replay's own entry
DECISION_BYTES = 350  # with its action and two empty tuples
TOKEN_BYTES = 8 + 32 + 8 + 24  # an int and a float, and a pointer to each


def record_bytes(trajectory: Trajectory) -> int:
    tokens = sum(len(decision.token_ids) for decision in trajectory.decisions)
    text = sum(len(decision.text) for decision in trajectory.decisions)
    return (
        RECORD_BYTES
        + DECISION_BYTES * len(trajectory.decisions)
        + TOKEN_BYTES * tokens
        + text
        + 2 * len(trajectory.task.instruction)
        + sum(100 + len(note) for note in trajectory.notes)
    )
