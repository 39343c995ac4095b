"""Durable storage: every trajectory is on disk before its collector gets an acknowledgement.

A store is a directory with one SQLite database (`trajectory_database`) and one writer, this class.
Promises:

- When `append`, `append_all` or `append_encoded` returns, the trajectories are on disk: a killed
  process or a power cut loses none of them. A batch is one atomic transaction with one fsync (group
  commit).
- An id is stored once. A resend changes nothing and is reported as such, also after a restart, and
  also if the trajectory has been dropped since.
- If the disk fails or is full, `StorageError` or `StorageFull` is raised, nothing of the batch is
  acknowledged or kept, and the store works again as soon as the disk does.
- A flipped byte in a row loses only that row: it is skipped and listed in `damages`. A file whose
  structure is damaged raises `CorruptRecord`.
- A stored trajectory may get a new verdict: `correct` stores it beside the trajectory, as durably,
  and everyone who finds or reads the trajectory afterwards gets it with that verdict.
- `byte_limit` bounds the pages in use and the write-ahead log together (plus one batch); the oldest
  trajectories are dropped first, their ids are remembered.

Trajectories can be found by id (`find`, for a restarted learner), read in order from a position on,
and read by other processes meanwhile (`trajectory_reader`). Use it from one thread at a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from distrl.bounds import Bounds, Checked, Fixed
from distrl.errors import InvalidSetting, UsageError
from distrl.records import Trajectory
from distrl.replay.store.directory_lock import DirectoryLock
from distrl.replay.store.trajectory_database import (
    PAGE_BYTES,
    Correction,
    checksum_of,
    connect_writer,
    encode_correction,
    id_bytes,
    typed_errors,
)
from distrl.replay.store.trajectory_reader import (
    BEGINNING,
    Damage,
    Position,
    StoredTrajectory,
    StoreRows,
    TrajectoryReader,
    last_position,
)
from distrl.replay.trajectory_encoding import encode_trajectory

MAX_ID_BYTES = 2**16 - 1
MAX_LOG_BYTES = 64 * 2**20  # write-ahead log size at which it is copied into the database
READABLE = "WHERE seq >= (SELECT min(seq) FROM bodies)"  # the oldest are dropped first
LEAST_BYTES = 2**18  # an empty database has 6 pages


@dataclass(frozen=True, slots=True)
class TrajectoryStoreSettings(Checked):
    """The size limit of a store, and whether a commit waits for the disk."""

    byte_limit: Annotated[int, Bounds(LEAST_BYTES, unit="bytes of trajectories on the disk")] = (
        32 * 2**30
    )
    wait_for_disk: Annotated[
        bool, Fixed("without it a power cut loses trajectories; a killed process does not")
    ] = True

    @property
    def log_bytes(self) -> int:
        return min(MAX_LOG_BYTES, self.byte_limit // 8)

    @property
    def database_bytes(self) -> int:
        return self.byte_limit - self.log_bytes


class TrajectoryStore:
    """The writer of a store. Open it with `with`, or `open` and `close` it."""

    def __init__(self, directory: Path, settings: TrajectoryStoreSettings | None = None) -> None:
        self.directory = directory
        self.settings = settings or TrajectoryStoreSettings()
        self._reader = TrajectoryReader(directory)
        self._lock = DirectoryLock(directory)
        self._connection: sqlite3.Connection | None = None

    # Opening and closing ------------------------------------------------------------------------

    def open(self) -> Self:
        """Lock the directory for this process, and recover the log of a killed writer."""
        settings = self.settings
        with ExitStack() as undo, typed_errors(self.directory, "open"):
            self.directory.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
            undo.callback(self._lock.release)
            self._connection = connect_writer(
                self.directory, log_bytes=settings.log_bytes, wait_for_disk=settings.wait_for_disk
            )
            undo.pop_all()
        return self

    def close(self) -> None:
        """Release the directory; no effect if it is not open."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()  # copies the log into the database
        self._lock.release()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    # Writing ------------------------------------------------------------------------------------

    def append(self, trajectory: Trajectory) -> bool:
        """Store it durably; return False, and change nothing, if its id is already known."""
        return self.append_all([trajectory])[0]

    def append_all(self, trajectories: Iterable[Trajectory]) -> list[bool]:
        """Store them durably, all or none, with one fsync; return the results of `append`."""
        encoded = [(each.id, encode_trajectory(each)) for each in trajectories]
        return [position is not None for position in self.append_encoded(encoded)]

    def append_encoded(self, trajectories: Sequence[tuple[str, bytes]]) -> list[Position | None]:
        """Store ids with the bytes of `encode_trajectory`, as `append_all` does.

        Return the position of each; None for one whose id is already known. The caller must have
        checked that the bytes decode.
        """
        new: dict[str, bytes] = {}
        for name, body in trajectories:
            if name not in new and name not in self:
                self._check_size(name, body)
                new[name] = body
        positions: dict[str, Position] = {}
        if new:
            nbytes = sum(map(len, new.values()))
            with self._transaction(f"store {len(new)} trajectories of {nbytes} bytes") as database:
                first = last_position(database) + 1
                for seq, (name, body) in enumerate(new.items(), first):
                    self._make_room(database, len(body))
                    known_as = id_bytes(name)
                    entry, content = (seq, known_as), (seq, checksum_of(seq, known_as, body), body)
                    database.execute("INSERT INTO trajectories (seq, id) VALUES (?, ?)", entry)
                    database.execute("INSERT INTO bodies VALUES (?, ?, ?)", content)
                    positions[name] = seq
        return [positions.pop(name, None) for name, _ in trajectories]

    def take_rows(self, copied: StoreRows) -> None:
        """Store rows of the original in this copy of a store, durably."""
        with self._transaction(f"copy {len(copied.rows)} trajectories") as database:
            for seq, name, corrected, correction, checksum, body in copied.rows:
                entry = (seq, name, corrected, correction)
                database.execute("INSERT OR REPLACE INTO trajectories VALUES (?, ?, ?, ?)", entry)
                if body is not None:
                    content = (seq, checksum, body)
                    database.execute("INSERT OR REPLACE INTO bodies VALUES (?, ?, ?)", content)
            database.execute("DELETE FROM bodies WHERE seq < ?", (copied.oldest,))

    def correct(self, trajectory_id: str, correction: Correction) -> bool:
        """Give a stored trajectory a new verdict, durably; return False if it is not stored."""
        query = "SELECT seq FROM trajectories JOIN bodies USING (seq) WHERE id = ?"
        row = self._one(query, id_bytes(trajectory_id))
        if row is None:
            return False
        with self._transaction(f"correct the verdict on {trajectory_id}") as database:
            change = "UPDATE trajectories SET corrected = ?, correction = ? WHERE seq = ?"
            position = last_position(database) + 1
            database.execute(change, (position, encode_correction(correction), row[0]))
        return True

    def _check_size(self, name: str, body: bytes) -> None:
        if len(id_bytes(name)) > MAX_ID_BYTES:
            raise UsageError(f"an id of {len(id_bytes(name))} bytes; {MAX_ID_BYTES} are the most")
        if _page_bytes(len(body)) + LEAST_BYTES // 2 > self.settings.database_bytes:
            raise InvalidSetting(
                f"trajectory {name} of {len(body)} bytes does not fit into a store of "
                f"store.byte_limit={self.settings.byte_limit}; raise it"
            )

    def _make_room(self, database: sqlite3.Connection, nbytes: int) -> None:
        """Drop the oldest bodies until `nbytes` fit; SQLite reuses their pages."""
        limit = self.settings.database_bytes - _page_bytes(nbytes)
        while _used_bytes(database) > limit:
            oldest = database.execute("SELECT min(seq) FROM bodies").fetchone()
            if oldest == (None,):
                return
            database.execute("DELETE FROM bodies WHERE seq = ?", oldest)
            database.execute("UPDATE trajectories SET correction = NULL WHERE seq = ?", oldest)

    @contextmanager
    def _transaction(self, tried: str) -> Iterator[sqlite3.Connection]:
        """Commit at the end, or roll back if anything is raised inside."""
        database = self._database
        with typed_errors(self.directory, tried):
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            finally:
                if database.in_transaction:
                    database.execute("ROLLBACK")

    @property
    def _database(self) -> sqlite3.Connection:
        if self._connection is None:
            raise UsageError(f"trajectory store {self.directory} is not open; use it in a `with`")
        return self._connection

    def _one(self, query: str, *values: Any) -> tuple[Any, ...] | None:
        with typed_errors(self.directory, "look up a trajectory"):
            row: tuple[Any, ...] | None = self._database.execute(query, values).fetchone()
            return row

    # Reading ------------------------------------------------------------------------------------

    def find(self, trajectory_id: str) -> Trajectory | None:
        """Return the trajectory of that id; None if it is unknown, dropped or damaged."""
        with typed_errors(self.directory, f"find {trajectory_id}"):
            return self._reader.find(self._database, "id", id_bytes(trajectory_id))

    def read(self, after: Position = BEGINNING) -> Iterator[StoredTrajectory]:
        """Yield what is stored after `after`, in order of arrival."""
        return self._reader.read(after)

    # Contents -----------------------------------------------------------------------------------

    def __len__(self) -> int:
        """The number of trajectories that can be read."""
        row = self._one(f"SELECT count(*) FROM trajectories {READABLE}")
        return int(row[0]) if row else 0

    def __contains__(self, trajectory_id: str) -> bool:
        """Whether this id was ever stored. Dropped ones count: they are not stored again."""
        query = "SELECT 1 FROM trajectories WHERE id = ?"
        return self._one(query, id_bytes(trajectory_id)) is not None

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the trajectories that can be read, oldest first."""
        query = f"SELECT id FROM trajectories {READABLE} ORDER BY seq"
        with typed_errors(self.directory, "list the ids"):
            rows = self._database.execute(query).fetchall()
        return tuple(name.decode("utf-8", "surrogatepass") for [name] in rows)

    @property
    def nbytes(self) -> int:
        """Bytes of all pages in use; free pages stay in the file for reuse."""
        with typed_errors(self.directory, "measure the database"):
            return _used_bytes(self._database)

    @property
    def position(self) -> Position:
        """The position of the newest trajectory or correction, from which a reader can resume."""
        with typed_errors(self.directory, "find the last position"):
            return last_position(self._database)

    @property
    def damages(self) -> tuple[Damage, ...]:
        """The rows that could not be read so far."""
        return self._reader.damages


def _used_bytes(database: sqlite3.Connection) -> int:
    [pages] = database.execute("PRAGMA page_count").fetchone()
    [free] = database.execute("PRAGMA freelist_count").fetchone()
    return int(pages - free) * PAGE_BYTES


def _page_bytes(nbytes: int) -> int:
    """Return the most that a row's pages take: overflow pages of the body, a leaf, index pages."""
    return (nbytes // (PAGE_BYTES - 4) + 4) * PAGE_BYTES
