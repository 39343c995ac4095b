"""Every trajectory on disk before its collector hears "received"; each id once, whatever happens.

A store is a directory of segments (`segment`) with one writer, this class. What it promises:

- When `append` or `append_all` returns, the trajectories are on the disk itself: whoever kills the
  process or pulls the plug afterwards finds them. A batch shares one wait for the disk.
- An id is taken once. Sending it again changes nothing and gets False, also after a restart, also
  when the trajectory has been dropped since. False means that it was counted when it came in.
- When the disk fails or is full, `StorageError` or `StorageFull` is raised, nothing of the batch is
  acknowledged or kept, and the store goes on as soon as the disk does.
- Killed at any byte: a torn end is cut at the next opening and listed in `damages`, and nothing
  before it is lost. A damaged record in the middle costs itself, is listed, and is never fatal.
  Only the newest segment is checked to the last byte at opening; bodies of older ones when read.
- A stored trajectory may be judged anew: `correct` adds the new verdict behind it, as durably, and
  whoever finds or reads the trajectory afterwards gets it with that verdict.
- `byte_limit` bounds the segments; the oldest leave as whole segments, their ids are remembered.

What is in can be found by id (`find`, for a restarted learner), read in order from a position on,
and read by other processes meanwhile (`trajectory_reader`). One thread at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Annotated, Self

from distrl.bounds import Bounds, Fixed, check_bounds
from distrl.errors import InvalidSetting, StorageError, UsageError, storage_error
from distrl.records import Trajectory
from distrl.replay.store.correction import Correction, PlacedCorrection, encode_correction
from distrl.replay.store.directory_lock import DirectoryLock
from distrl.replay.store.dropped_ids import DroppedIds
from distrl.replay.store.segment import (
    CORRECTION,
    MAX_ID,
    PREAMBLE,
    TRAJECTORY,
    Damage,
    Record,
    sealed_bytes,
)
from distrl.replay.store.segment_folder import SegmentFolder
from distrl.replay.store.segment_writer import Draft, SegmentWriter
from distrl.replay.store.trajectory_index import Place, TrajectoryIndex
from distrl.replay.store.trajectory_reader import (
    BEGINNING,
    Position,
    StoredTrajectory,
    TrajectoryReader,
)
from distrl.replay.trajectory_encoding import encode_trajectory


@dataclass(frozen=True, slots=True)
class TrajectoryStoreSettings:
    """How much is kept; a segment is never more than an eighth of the limit."""

    byte_limit: Annotated[int, Bounds(1024, unit="bytes of trajectories on the disk")] = 32 * 2**30
    segment_bytes: Annotated[
        int, Bounds(1024, unit="bytes"), Fixed("64 MB are written fast and dropped finely")
    ] = 64 * 2**20
    wait_for_disk: Annotated[
        bool, Fixed("without it a power cut loses trajectories; a killed process does not")
    ] = True

    def __post_init__(self) -> None:
        check_bounds(self)

    @property
    def segment_limit(self) -> int:
        return min(self.segment_bytes, self.byte_limit // 8)


class TrajectoryStore:
    """The writer of a store. Open it with `with`, or `open` and `close` it."""

    def __init__(self, directory: Path, settings: TrajectoryStoreSettings | None = None) -> None:
        self.directory = directory
        self.settings = settings or TrajectoryStoreSettings()
        self._folder = SegmentFolder(directory)
        self._reader = TrajectoryReader(directory)
        self._lock = DirectoryLock(directory)
        self._dropped_ids = DroppedIds(directory, wait_for_disk=self.settings.wait_for_disk)
        self._index = TrajectoryIndex()
        self._active: SegmentWriter | None = None
        self._next_number = 1
        self._resent = 0
        self._is_open = False

    # Opening and closing ------------------------------------------------------------------------

    def open(self) -> Self:
        """Take the directory for this process, and see what is in it."""
        with ExitStack() as undo:
            try:
                self.directory.mkdir(parents=True, exist_ok=True)
                self._lock.acquire()
                undo.callback(self._lock.release)
                self._recover()
            except OSError as error:
                raise self._failed(error, "open") from error
            undo.pop_all()
        self._is_open = True
        return self

    def close(self) -> None:
        """Let go of the directory; without effect if it is not open."""
        self._retire_active()
        self._is_open = False
        self._lock.release()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _recover(self) -> None:
        """Learn what is in every segment, and go on in a new one behind them all."""
        self._index = TrajectoryIndex()
        gone = self._dropped_ids.recall()
        self._index.add_dropped(gone.ids)
        for damage in gone.damages:
            self._reader.report(damage)
        for number in gone.segments.intersection(self._folder.numbers()):
            self._folder.path(number).unlink()  # we were killed before we could
        numbers = self._folder.numbers()
        for number in numbers:
            self._recover_segment(number, newest=number == numbers[-1])
        self._next_number = max([0, *numbers, *gone.segments]) + 1

    def _recover_segment(self, number: int, newest: bool) -> None:
        """The newest segment may have a torn end, which is cut off; older ones were finished."""
        with self._folder.segment(number) as segment:
            self._index.add_segment(number, segment.size)
            for found in segment.walk(bodies=newest):
                if isinstance(found, Damage):
                    self._reader.report(found)
                    if newest and found.end == segment.size:
                        self._index.resize(number, found.offset)
                elif found.kind == TRAJECTORY:
                    self._index.add(found.id, Place(number, found.offset, found.end))
                elif found.kind == CORRECTION:
                    self._index.correct(found.id, Place(number, found.offset, found.end))
        if newest:  # killed before it could wait for the disk, perhaps; from now on it counts
            with closing(self._writer(number)) as writer:
                writer.create_or_go_on()
                writer.cut(self._index.segment_bytes(number))
                self._index.resize(number, writer.end)
            if self.settings.wait_for_disk:
                self._folder.sync()

    # In -----------------------------------------------------------------------------------------

    def append(self, trajectory: Trajectory) -> bool:
        """Store it durably. True: it is new. False: its id was here before, nothing changed."""
        [new] = self.append_all([trajectory])
        return new

    def append_all(self, trajectories: Iterable[Trajectory]) -> list[bool]:
        """Store them durably, all or none, with one wait for the disk; answers as `append`."""
        self._check_open()
        new: dict[str, Trajectory] = {}
        answers = []
        for trajectory in trajectories:
            answers.append(trajectory.id not in self and trajectory.id not in new)
            if answers[-1]:
                new[trajectory.id] = trajectory
        drafts = [(TRAJECTORY, name, encode_trajectory(each)) for name, each in new.items()]
        if drafts:
            self._add(drafts)
        self._resent += answers.count(False)
        return answers

    def _check_open(self) -> None:
        if not self._is_open:
            raise UsageError(f"trajectory store {self.directory} is not open; use it in a `with`")

    def correct(self, trajectory_id: str, correction: Correction) -> bool:
        """Give a stored trajectory a new verdict, durably. False: it is not here (any more)."""
        self._check_open()
        place = self._index.find(trajectory_id)
        if place is None:
            return False
        body = encode_correction(PlacedCorrection(correction, place.segment, place.start))
        self._add([(CORRECTION, trajectory_id, body)])
        return self._index.find(trajectory_id) is not None  # making room may have dropped it

    def _add(self, drafts: list[Draft]) -> None:
        nbytes = sum(sealed_bytes(name, body) for _, name, body in drafts)
        self._check_size(drafts, nbytes)
        written = False
        try:
            active = self._active_for(nbytes)
            places = active.add(drafts)
            written = True
        except OSError as error:
            raise self._failed(
                error, f"store {len(drafts)} trajectories of {nbytes} bytes"
            ) from error
        finally:
            if not written:  # a reader may have seen some of it: never write there again
                self._retire_active()
        for (kind, name, _), (start, end) in zip(drafts, places, strict=True):
            note = self._index.add if kind == TRAJECTORY else self._index.correct
            note(name, Place(active.number, start, end))
        self._index.resize(active.number, active.end)

    def _check_size(self, drafts: list[Draft], nbytes: int) -> None:
        longest = max(len(name.encode("utf-8", "surrogatepass")) for _, name, _ in drafts)
        if longest > MAX_ID:
            raise UsageError(f"an id of {longest} bytes; {MAX_ID} are the most")
        if nbytes + PREAMBLE.size > self.settings.byte_limit:
            raise InvalidSetting(
                f"{len(drafts)} trajectories of {nbytes} bytes do not fit into a store of "
                f"store.byte_limit={self.settings.byte_limit}; raise it, or send fewer at once"
            )

    def _active_for(self, nbytes: int) -> SegmentWriter:
        """The segment that so many bytes go into; a new one if they do not fit any more."""
        self._make_room(nbytes)
        if self._active is not None and self._active.end + nbytes > self.settings.segment_limit:
            self._retire_active()
        if self._active is None:
            self._active = self._new_segment()
        return self._active

    def _new_segment(self) -> SegmentWriter:
        segment = self._writer(self._next_number)
        segment.create()
        self._next_number += 1
        self._index.add_segment(segment.number, segment.end)
        if self.settings.wait_for_disk:
            self._folder.sync()
        return segment

    def _writer(self, number: int) -> SegmentWriter:
        path = self._folder.path(number)
        return SegmentWriter(path, number, wait_for_disk=self.settings.wait_for_disk)

    def _retire_active(self) -> None:
        """Write no more to the newest segment; one that nothing came into is removed."""
        active, self._active = self._active, None
        if active is None:
            return
        active.close()
        if self._index.segment_bytes(active.number) <= PREAMBLE.size:
            self._index.remove_segment(active.number)
            with suppress(OSError):
                active.remove()

    # Out ----------------------------------------------------------------------------------------

    def _make_room(self, nbytes: int) -> None:
        limit = self.settings.byte_limit - nbytes - PREAMBLE.size
        while self.nbytes > limit and (oldest := self._index.oldest) is not None:
            if self._active is not None and self._active.number == oldest:
                self._retire_active()
            if self._index.oldest == oldest:
                self._drop(oldest)

    def _drop(self, number: int) -> None:
        """Let go of a segment: first remember its ids for good, then remove it."""
        self._dropped_ids.remember(number, self._index.ids_in(number))
        self._folder.path(number).unlink(missing_ok=True)
        self._index.remove_segment(number)

    def find(self, trajectory_id: str) -> Trajectory | None:
        """The trajectory of that id; None if it is not here, not any more, or damaged."""
        place = self._index.find(trajectory_id)
        record = self._record(place)
        if place is None or record is None:
            return None
        trajectory = self._reader.decode(place.segment, record)
        correction = self._correction_of(trajectory_id)
        if trajectory is None or correction is None:
            return trajectory
        return correction.applied_to(trajectory)

    def _correction_of(self, trajectory_id: str) -> Correction | None:
        place = self._index.correction_of(trajectory_id)
        record = self._record(place)
        if place is None or record is None:
            return None
        placed = self._reader.decode_correction(place.segment, record)
        return placed.correction if placed else None

    def _record(self, place: Place | None) -> Record | None:
        """What is at a place; None, and a line in `damages`, where it cannot be read."""
        if place is None:
            return None
        with self._folder.segment(place.segment) as segment:
            record = segment.record(place.start)
        if record is None:
            damage = Damage(place.segment, place.start, place.end - place.start, "a damaged record")
            self._reader.report(damage)
        return record

    def read(self, after: Position = BEGINNING) -> Iterator[StoredTrajectory]:
        """All that is stored behind `after`, in the order in which it came."""
        return self._reader.read(after)

    # What there is ------------------------------------------------------------------------------

    def __len__(self) -> int:
        """How many trajectories can be read."""
        return len(self._index)

    def __contains__(self, trajectory_id: str) -> bool:
        """Was this id ever taken? Dropped ones count: they are not taken again."""
        return trajectory_id in self._index

    @property
    def ids(self) -> tuple[str, ...]:
        """Of the trajectories that can be read, oldest first."""
        return self._index.ids

    @property
    def nbytes(self) -> int:
        """Of all segments."""
        return self._index.nbytes

    @property
    def position(self) -> Position:
        """Behind the newest trajectory; for checkpoints, to go on reading from."""
        if not self._index.segments:
            return BEGINNING
        newest = self._index.segments[-1]
        return Position(newest, self._index.segment_bytes(newest))

    @property
    def damages(self) -> tuple[Damage, ...]:
        """What could not be read so far, torn ends included."""
        return self._reader.damages

    def gauges(self) -> dict[str, float]:
        """What a dashboard shows."""
        return {
            "trajectories": float(len(self)),
            "dropped": float(self._index.dropped),
            "corrected": float(self._index.corrected),
            "resent": float(self._resent),
            "damages": float(len(self.damages)),
            "segments": float(len(self._index.segments)),
            "bytes": float(self.nbytes),
            "bytes_share": self.nbytes / self.settings.byte_limit,
        }

    def _failed(self, error: OSError, tried: str) -> StorageError:
        return storage_error(error, f"trajectory store {self.directory}: could not {tried}")
