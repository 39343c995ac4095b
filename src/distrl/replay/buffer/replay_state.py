"""The replay buffer's part of a checkpoint; trajectories are referred to by their ids."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distrl.errors import CorruptSnapshot
from distrl.replay.buffer.reduction_tree import LARGEST

VERSION = 2  # 1 had no measured priorities


@dataclass(frozen=True, slots=True)
class ReplayState:
    """The slots from old to new, the position of the round-robin refresh, and the counters."""

    next_slot: int
    rotation: int
    ids: list[str]
    priorities: NDArray[np.float64]
    times_drawn: NDArray[np.int64]
    measured: list[float]  # the last measured priorities, for those of new trajectories
    counts: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of numbers, lists and arrays; nothing in it needs pickle."""
        return {"version": VERSION, **asdict(self)}

    @staticmethod
    def from_dict(state: dict[str, Any]) -> ReplayState:
        """Rebuild the state; raise `CorruptSnapshot` if it is inconsistent."""
        if state.get("version") != VERSION:
            raise CorruptSnapshot(
                f"replay state of version {state.get('version')!r}; this is version {VERSION}"
            )
        try:
            saved = ReplayState(
                next_slot=int(state["next_slot"]),
                rotation=int(state["rotation"]),
                ids=[str(name) for name in state["ids"]],
                priorities=np.asarray(state["priorities"], dtype=np.float64),
                times_drawn=np.asarray(state["times_drawn"], dtype=np.int64),
                measured=[float(each) for each in state["measured"]],
                counts={str(name): int(count) for name, count in state["counts"].items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CorruptSnapshot(f"no replay state: {error!r}; take an older one") from error
        saved._check()
        return saved

    def _check(self) -> None:
        n = len(self.ids)
        fits = self.priorities.shape == self.times_drawn.shape == (n,) and self.next_slot >= n
        if len(set(self.ids)) < n:
            raise CorruptSnapshot(f"replay state in which one of {n} ids comes twice; take another")
        known = np.concatenate([self.priorities.ravel(), self.measured])
        if not fits or not ((known > 0.0) & (known <= LARGEST)).all():
            raise CorruptSnapshot(
                f"replay state of {n} ids, {self.priorities.shape} priorities and "
                f"{self.times_drawn.shape} counts up to slot {self.next_slot} does not fit "
                "together; take an older one"
            )
