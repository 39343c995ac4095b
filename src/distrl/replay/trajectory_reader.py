"""Reads a trajectory store from the outside, also while a run writes to it.

It takes no lock and changes nothing. Trajectories come in the order in which they were stored, each
with the position behind it; handing that position back goes on from there, in this process or the
next, once there is more. Half a record is never seen. What is damaged is passed over and listed in
`damages`. Segments that the store let go of meanwhile are passed over as well.

A reader may be ahead of the writer's acknowledgement by one batch. If just that batch fails on its
way to the disk, it is withdrawn, and comes again when it is sent again: whoever counts while a run
goes on counts ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from distrl.errors import CorruptRecord
from distrl.records import Trajectory
from distrl.replay.segment import TRAJECTORY, Damage, Record
from distrl.replay.segment_folder import SegmentFolder
from distrl.replay.trajectory_encoding import decode_trajectory


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place between two trajectories of a store."""

    segment: int = 0
    offset: int = 0


BEGINNING = Position()


@dataclass(frozen=True, slots=True)
class StoredTrajectory:
    """A trajectory, and the position behind it."""

    trajectory: Trajectory
    position: Position


class TrajectoryReader:
    """Trajectories of a store from some position on."""

    def __init__(self, directory: Path) -> None:
        self._folder = SegmentFolder(directory)
        self._damages: dict[tuple[int, int], Damage] = {}

    @property
    def damages(self) -> tuple[Damage, ...]:
        """What could not be read so far, each place once."""
        return tuple(self._damages.values())

    def report(self, damage: Damage) -> None:
        self._damages[damage.segment, damage.offset] = damage

    def read(self, after: Position = BEGINNING) -> Iterator[StoredTrajectory]:
        """All that is stored behind `after` by now; ask again later with the last position."""
        # Listed before it is read: a segment that another one follows is not written to any more.
        numbers = [n for n in self._folder.numbers() if n >= after.segment]
        for number in numbers:
            start = after.offset if number == after.segment else 0
            try:
                yield from self._read_segment(number, start, final=number != numbers[-1])
            except FileNotFoundError:
                continue  # the oldest ones leave when the store is full

    def _read_segment(self, number: int, start: int, final: bool) -> Iterator[StoredTrajectory]:
        with self._folder.segment(number) as segment:
            for found in segment.walk(start, final=final):
                if isinstance(found, Damage):
                    self.report(found)
                elif (trajectory := self.decode(number, found)) is not None:
                    yield StoredTrajectory(trajectory, Position(number, found.end))

    def decode(self, segment: int, record: Record) -> Trajectory | None:
        """The trajectory in a record; None, and a line in `damages`, if it is none."""
        if record.kind != TRAJECTORY or record.body is None:
            return None
        try:
            return decode_trajectory(record.body)
        except CorruptRecord as error:
            self.report(Damage(segment, record.offset, record.end - record.offset, str(error)))
            return None
