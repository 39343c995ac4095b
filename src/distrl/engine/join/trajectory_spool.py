"""Finished trajectories of a joined collector, on its own disk until the learner has stored them.

`put` returns once the trajectory is on this machine's disk (SQLite, one transaction), so a network
failure loses no finished episode. It blocks while `max_waiting` trajectories are unacknowledged,
which throttles the devices when the learner is behind or unreachable. Trajectories of another run
stay in the spool until that run is joined again.

The directory is locked: one process uses it at a time. It also holds `member`, the id by which the
learner knows this directory, and the weights. Thread-safe.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import re
import secrets
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from distrl.engine.join.join_messages import MAX_DELIVERIES, MAX_DELIVERY_BYTES
from distrl.errors import CorruptRecord, DataLost, StorageError, storage_error
from distrl.records import Trajectory
from distrl.replay.store.directory_lock import DirectoryLock
from distrl.replay.trajectory_encoding import decode_trajectory, encode_trajectory
from distrl.runs.run_directory import write_whole

BATCH_BYTES = MAX_DELIVERY_BYTES // 4  # of one request, unless a single trajectory is larger
RETRY_SECONDS = 1.0  # after a failed write
FILE, MEMBER = "spool.sqlite", "member"
BARE = re.compile("[0-9a-f]{32}")  # a member as earlier versions wrote it, without a checksum
SCHEMA = """
CREATE TABLE IF NOT EXISTS waiting (
    seq INTEGER PRIMARY KEY, run TEXT NOT NULL, id TEXT NOT NULL, data BLOB NOT NULL,
    nbytes INTEGER NOT NULL, digest BLOB, UNIQUE (run, id)
);
CREATE TABLE IF NOT EXISTS unusable (
    seq INTEGER PRIMARY KEY, run TEXT NOT NULL, id TEXT NOT NULL, data BLOB NOT NULL, reason TEXT
);
"""

log = logging.getLogger(__name__)


class Spooled(NamedTuple):
    """A trajectory that is not delivered yet."""

    seq: int
    id: str
    data: bytes
    digest: bytes | None = None  # of the data, when it was written


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def _damage(spooled: Spooled) -> str:
    """Return what is wrong with a spooled trajectory; empty if it is intact."""
    if spooled.digest is not None and _digest(spooled.data) != spooled.digest:
        return "its bytes are not those that were written"
    try:
        found = decode_trajectory(spooled.data, verify=True).id
    except CorruptRecord as error:
        return str(error)
    return "" if found == spooled.id else f"it is {found}"


class TrajectorySpool:
    """Implements `TrajectorySink`. A context manager; `begin` selects the run."""

    def __init__(self, folder: Path, max_waiting: int) -> None:
        self.folder = folder
        self.unusable = 0  # trajectories that were set aside
        self.max_waiting = max_waiting
        self._run = ""
        self._waiting: dict[str, int] = {}  # of this run: seq by id
        self._sound: set[int] = set()  # seqs that this process has written or verified
        self._released = False
        self._changed = threading.Condition()
        self._lock = DirectoryLock(folder)

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock.acquire()
            self._refuse_emptied()
            self._database = sqlite3.connect(
                self.folder / FILE, check_same_thread=False, isolation_level=None
            )
            with self._storing("opening"):
                self._database.execute("PRAGMA journal_mode=WAL")
                self._database.execute("PRAGMA synchronous=FULL")
                self._database.executescript(SCHEMA)
                columns = self._database.execute("PRAGMA table_info(waiting)").fetchall()
                if "digest" not in {row[1] for row in columns}:  # of an earlier version
                    self._database.execute("ALTER TABLE waiting ADD COLUMN digest BLOB")
        except OSError as error:
            raise storage_error(error, f"opening the spool {self.folder}") from error
        return self

    def _refuse_emptied(self) -> None:
        """Raise `DataLost` if the database of a known member is gone, with what waited in it."""
        file = self.folder / FILE
        if (self.folder / MEMBER).exists() and not (file.exists() and file.stat().st_size):
            self._lock.release()
            raise DataLost(
                f"{file} is gone or empty, and with it the trajectories that the learner did not "
                f"have yet; restore it, or remove {self.folder / MEMBER} to join as a new machine"
            )

    def __exit__(self, *_: object) -> None:
        self.release()
        with self._changed:
            self._database.close()
        self._lock.release()

    @property
    def member(self) -> str:
        """The id of this directory, drawn on first use."""
        file = self.folder / MEMBER
        if not file.exists():
            self._refuse_unknown_member()
            drawn = secrets.token_hex(16)
            write_whole(file, f"{drawn} {zlib.crc32(drawn.encode()):08x}\n")
        drawn, _, checksum = file.read_text("ascii", "replace").strip().partition(" ")
        if checksum != f"{zlib.crc32(drawn.encode()):08x}" and not BARE.fullmatch(drawn + checksum):
            raise DataLost(
                f"{file} is not as it was written; the learner knows this machine by it, and would "
                f"have nothing of what waits here: restore it, or remove {self.folder}"
            )
        return drawn

    def _refuse_unknown_member(self) -> None:
        """Raise `DataLost` if trajectories wait: the learner takes them from their member only."""
        with self._changed, self._storing("reading"):
            waiting = self._database.execute("SELECT count(*) FROM waiting").fetchone()[0]
        if waiting:
            raise DataLost(
                f"{self.folder / MEMBER} is gone, and {waiting} trajectories wait that only this "
                f"member can deliver: restore it, or remove {self.folder}"
            )

    def begin(self, run: str) -> None:
        """Select the run that `put`, `batch` and `len()` refer to."""
        with self._changed, self._storing("reading"):
            self._run, self._released = run, False
            rows = self._database.execute("SELECT id, seq FROM waiting WHERE run = ?", (run,))
            self._waiting = dict(rows.fetchall())

    def elsewhere(self) -> int:
        """Return how many trajectories wait for other runs."""
        with self._changed, self._storing("reading"):
            query = "SELECT count(*) FROM waiting WHERE run != ?"
            return int(self._database.execute(query, (self._run,)).fetchone()[0])

    # The collector's side -----------------------------------------------------------------------

    def put(self, trajectory: Trajectory) -> bool:
        """Store a trajectory durably, then wait for room; return False if it was here already."""
        encoded = encode_trajectory(trajectory)
        with self._changed:
            new = trajectory.id not in self._waiting
            while new and not self._keep(trajectory.id, encoded):
                if self._changed.wait_for(lambda: self._released, RETRY_SECONDS):
                    raise StorageError(f"trajectory {trajectory.id} could not be kept")
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._has_room() or self._released)
        return new

    def _keep(self, trajectory_id: str, encoded: bytes) -> bool:
        """Insert a row; return False if the disk cannot be written now."""
        row = (self._run, trajectory_id, encoded, len(encoded), _digest(encoded))
        try:
            with self._storing("writing"):
                cursor = self._database.execute(
                    "INSERT INTO waiting (run, id, data, nbytes, digest) VALUES (?, ?, ?, ?, ?)",
                    row,
                )
        except StorageError as error:
            log.warning("%s; trying again", error)
            return False
        assert cursor.lastrowid is not None
        self._waiting[trajectory_id] = cursor.lastrowid
        self._sound.add(cursor.lastrowid)
        return True

    def _has_room(self) -> bool:
        return len(self._waiting) < self.max_waiting

    def release(self) -> None:
        """Let nobody wait for room or trajectories any more: the session has ended."""
        with self._changed:
            self._released = True
            self._changed.notify_all()

    # The sender's side --------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, trajectory_id: object) -> bool:
        return trajectory_id in self._waiting

    def batch(self, seconds: float) -> list[Spooled]:
        """Return the oldest ones that fit in one request; wait up to `seconds` for the first.

        Those of an earlier process are verified once, without the lock that `put` needs.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._released, seconds)
            query = "SELECT seq, id, nbytes FROM waiting WHERE run = ? ORDER BY seq LIMIT ?"
            with self._storing("reading"):
                rows = self._database.execute(query, (self._run, MAX_DELIVERIES)).fetchall()
                taken: list[Spooled] = []
                total = 0
                for seq, trajectory_id, nbytes in rows:
                    total += nbytes
                    if taken and total > BATCH_BYTES:
                        break
                    taken.append(Spooled(seq, trajectory_id, *self._data(seq)))
            unread = [each for each in taken if each.seq not in self._sound]
        damaged = {each: why for each in unread if (why := _damage(each))}
        for each, why in damaged.items():
            self.set_aside(each, f"this machine's disk has damaged it: {why}")
        with self._changed:
            self._sound.update(each.seq for each in unread if each not in damaged)
        return [each for each in taken if each not in damaged]

    def _data(self, seq: int) -> tuple[bytes, bytes | None]:
        query = "SELECT data, digest FROM waiting WHERE seq = ?"
        data, digest = self._database.execute(query, (seq,)).fetchone()
        return bytes(data), digest

    def delivered(self, ids: Sequence[str]) -> None:
        """Delete trajectories that the learner has stored."""
        with self._changed, self._storing("writing"):
            seqs = [(self._waiting.pop(each),) for each in ids if each in self._waiting]
            self._sound.difference_update(seq for (seq,) in seqs)  # SQLite may reuse them
            self._database.execute("BEGIN")
            self._database.executemany("DELETE FROM waiting WHERE seq = ?", seqs)
            self._database.execute("COMMIT")
            self._changed.notify_all()

    def set_aside(self, refused: Spooled, reason: str) -> None:
        """Move a trajectory that cannot be delivered to `unusable`, for a person to look at."""
        log.error("set aside trajectory %s, which is not delivered: %s", refused.id, reason)
        with self._changed, self._storing("writing"):
            self.unusable += 1
            self._waiting.pop(refused.id, None)
            self._sound.discard(refused.seq)
            self._database.execute("BEGIN")
            self._database.execute(
                "INSERT OR REPLACE INTO unusable SELECT seq, run, id, data, ? FROM waiting "
                "WHERE seq = ?",
                (reason, refused.seq),
            )
            self._database.execute("DELETE FROM waiting WHERE seq = ?", (refused.seq,))
            self._database.execute("COMMIT")
            self._changed.notify_all()

    @contextlib.contextmanager
    def _storing(self, doing: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if self._in_transaction():
                self._database.execute("ROLLBACK")
            raise StorageError(
                f"{doing} the spool {self.folder}: {error}; see that its disk is well and has room"
            ) from error

    def _in_transaction(self) -> bool:
        return self._database.in_transaction
