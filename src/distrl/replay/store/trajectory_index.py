"""Which trajectory is where in a store, and which ids were there before: kept in memory, by id.

The trajectory store builds it when it opens and keeps it true with every change. About 250 bytes
for each id.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Place:
    """Where a trajectory is: from byte `start` to before byte `end` of a segment."""

    segment: int
    start: int
    end: int


@dataclass(slots=True)
class _Content:
    """What a segment holds."""

    nbytes: int
    ids: list[str] = field(default_factory=list)


class TrajectoryIndex:
    """Places by id, ids by segment, and the ids of what was dropped."""

    def __init__(self) -> None:
        self._places: dict[str, Place] = {}
        self._contents: dict[int, _Content] = {}  # oldest first
        self._dropped: set[str] = set()
        self._corrections: dict[str, Place] = {}  # the last of each id
        self.nbytes = 0

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, trajectory_id: str) -> bool:
        """Was it ever in? Dropped ones count."""
        return trajectory_id in self._places or trajectory_id in self._dropped

    @property
    def ids(self) -> tuple[str, ...]:
        """Of what is in, oldest first."""
        return tuple(self._places)

    @property
    def dropped(self) -> int:
        return len(self._dropped)

    @property
    def segments(self) -> tuple[int, ...]:
        """Oldest first."""
        return tuple(self._contents)

    @property
    def oldest(self) -> int | None:
        return next(iter(self._contents), None)

    def segment_bytes(self, segment: int) -> int:
        return self._contents[segment].nbytes

    def ids_in(self, segment: int) -> list[str]:
        return self._contents[segment].ids

    def find(self, trajectory_id: str) -> Place | None:
        return self._places.get(trajectory_id)

    def add_segment(self, segment: int, nbytes: int) -> None:
        self._contents[segment] = _Content(0)
        self.resize(segment, nbytes)

    def resize(self, segment: int, nbytes: int) -> None:
        self.nbytes += nbytes - self._contents[segment].nbytes
        self._contents[segment].nbytes = nbytes

    def add(self, trajectory_id: str, place: Place) -> None:
        """A second copy of an id is passed over: it can only be the same, sent again."""
        if trajectory_id not in self:
            self._places[trajectory_id] = place
            self._contents[place.segment].ids.append(trajectory_id)

    def correct(self, trajectory_id: str, place: Place) -> None:
        """A correction is at that place; it counts from now on, as long as its trajectory is in."""
        if trajectory_id in self._places:
            self._corrections[trajectory_id] = place

    def correction_of(self, trajectory_id: str) -> Place | None:
        return self._corrections.get(trajectory_id)

    @property
    def corrected(self) -> int:
        return len(self._corrections)

    def add_dropped(self, ids: list[str]) -> None:
        self._dropped.update(ids)

    def remove_segment(self, segment: int) -> None:
        """Its bytes and places are gone; its ids stay taken."""
        self.resize(segment, 0)
        for name in self._contents.pop(segment).ids:
            del self._places[name]
            self._corrections.pop(name, None)
            self._dropped.add(name)
