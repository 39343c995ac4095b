"""Reads a trajectory store from the outside, also while a run writes to it.

It takes no lock and changes nothing. Trajectories come in the order in which they were stored, each
with the position behind it; handing that position back goes on from there, in this process or the
next, once there is more. Half a record is never seen. What is damaged is passed over and listed in
`damages`. Segments that the store let go of meanwhile are passed over as well.

A trajectory comes with its last verdict. One that was corrected behind the position that reading
goes on from comes again, at the place of its last correction: it is new once more.

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
from distrl.replay.store.correction import PlacedCorrection, decode_correction
from distrl.replay.store.segment import CORRECTION, TRAJECTORY, Damage, Record
from distrl.replay.store.segment_folder import SegmentFolder
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


@dataclass(frozen=True, slots=True)
class _LastCorrection:
    """What counts of a trajectory's corrections, and where its record is."""

    placed: PlacedCorrection
    at: Position


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
        corrections = self._corrections(numbers, after)
        for number in numbers:
            start = after.offset if number == after.segment else 0
            final = number != numbers[-1]
            try:
                yield from self._read_segment(number, start, corrections, after, final=final)
            except FileNotFoundError:
                continue  # the oldest ones leave when the store is full

    def _read_segment(
        self,
        number: int,
        start: int,
        corrections: dict[str, _LastCorrection],
        after: Position,
        *,
        final: bool,
    ) -> Iterator[StoredTrajectory]:
        with self._folder.segment(number) as segment:
            for found in segment.walk(start, final=final):
                if isinstance(found, Damage):
                    self.report(found)
                    continue
                if found.kind == CORRECTION:
                    trajectory = self._corrected_here(number, found, corrections, after)
                else:
                    trajectory = self.decode(number, found)
                if trajectory is not None:
                    last = corrections.get(found.id)
                    yield StoredTrajectory(
                        last.placed.correction.applied_to(trajectory) if last else trajectory,
                        Position(number, found.end),
                    )

    def _corrected_here(
        self,
        number: int,
        record: Record,
        corrections: dict[str, _LastCorrection],
        after: Position,
    ) -> Trajectory | None:
        """The trajectory that comes again at this correction; None if it did not have to."""
        at, last = Position(number, record.offset), corrections.get(record.id)
        if last is None or at > last.at:  # written since we began to read
            placed = self.decode_correction(number, record)
            if placed is None:
                return None
            corrections[record.id] = _LastCorrection(placed, at)
            return self._read_at(placed)
        if at < last.at or Position(last.placed.segment, last.placed.offset) >= after:
            return None  # another one counts, or it came just now with this verdict
        return self._read_at(last.placed)

    def _corrections(self, numbers: list[int], after: Position) -> dict[str, _LastCorrection]:
        """The last correction of every trajectory that has one behind `after`, by id."""
        found: dict[str, _LastCorrection] = {}
        for number in numbers:
            start = after.offset if number == after.segment else 0
            try:
                with self._folder.segment(number) as segment:
                    for each in segment.walk(start, final=False, bodies=False):
                        if isinstance(each, Record) and each.kind == CORRECTION:
                            whole = segment.record(each.offset)
                            placed = self.decode_correction(number, whole) if whole else None
                            if placed is not None:
                                found[each.id] = _LastCorrection(
                                    placed, Position(number, each.offset)
                                )
            except FileNotFoundError:
                continue
        return found

    def _read_at(self, placed: PlacedCorrection) -> Trajectory | None:
        """The trajectory that a correction is about; None if it was dropped since."""
        try:
            with self._folder.segment(placed.segment) as segment:
                record = segment.record(placed.offset)
        except FileNotFoundError:
            return None
        return self.decode(placed.segment, record) if record is not None else None

    def decode_correction(self, segment: int, record: Record) -> PlacedCorrection | None:
        """The correction in a record; None, and a line in `damages`, if it is none."""
        try:
            return decode_correction(record.body or b"")
        except CorruptRecord as error:
            self.report(Damage(segment, record.offset, record.end - record.offset, str(error)))
            return None

    def decode(self, segment: int, record: Record) -> Trajectory | None:
        """The trajectory in a record; None, and a line in `damages`, if it is none."""
        if record.kind != TRAJECTORY or record.body is None:
            return None
        try:
            return decode_trajectory(record.body)
        except CorruptRecord as error:
            self.report(Damage(segment, record.offset, record.end - record.offset, str(error)))
            return None
