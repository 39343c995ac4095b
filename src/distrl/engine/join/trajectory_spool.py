"""Finished trajectories of a joined collector, on its own disk until the learner has stored them.

`put` returns once the trajectory is on this machine's disk (SQLite, one transaction), so a cut of
the network costs nothing that was played. It waits while `max_waiting` are not acknowledged yet:
that holds the devices back when the learner is behind, or away. Trajectories of another run stay
where they are until that run is joined again.

The directory has one user at a time. It also has `member`, the id by which the learner knows this
directory, and the weights. Thread-safe.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from distrl.engine.join.join_messages import MAX_DELIVERIES, MAX_DELIVERY_BYTES
from distrl.errors import StorageError, storage_error
from distrl.records import Trajectory
from distrl.replay.store.directory_lock import DirectoryLock
from distrl.replay.trajectory_encoding import encode_trajectory
from distrl.runs.run_directory import write_whole

BATCH_BYTES = MAX_DELIVERY_BYTES // 4  # of one request, unless a single trajectory is larger
RETRY_SECONDS = 1.0  # after the disk took nothing
SCHEMA = """
CREATE TABLE IF NOT EXISTS waiting (
    seq INTEGER PRIMARY KEY, run TEXT NOT NULL, id TEXT NOT NULL, data BLOB NOT NULL,
    nbytes INTEGER NOT NULL, UNIQUE (run, id)
);
CREATE TABLE IF NOT EXISTS unusable (
    seq INTEGER PRIMARY KEY, run TEXT NOT NULL, id TEXT NOT NULL, data BLOB NOT NULL, reason TEXT
);
"""

log = logging.getLogger(__name__)


class Spooled(NamedTuple):
    """A trajectory that waits."""

    seq: int
    id: str
    data: bytes


class TrajectorySpool:
    """Implements `TrajectorySink`. A context manager; `begin` says for which run it is."""

    def __init__(self, folder: Path, max_waiting: int) -> None:
        self.folder = folder
        self.unusable = 0  # that the learner will not have
        self._max_waiting = max_waiting
        self._run = ""
        self._waiting: dict[str, int] = {}  # of this run: seq by id
        self._released = False
        self._changed = threading.Condition()
        self._lock = DirectoryLock(folder)

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock.acquire()
            self._database = sqlite3.connect(
                self.folder / "spool.sqlite", check_same_thread=False, isolation_level=None
            )
            with self._storing("opening"):
                self._database.execute("PRAGMA journal_mode=WAL")
                self._database.execute("PRAGMA synchronous=FULL")
                self._database.executescript(SCHEMA)
        except OSError as error:
            raise storage_error(error, f"opening the spool {self.folder}") from error
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        with self._changed:
            self._database.close()
        self._lock.release()

    @property
    def member(self) -> str:
        """The id of this directory; drawn when it is first asked for."""
        file = self.folder / "member"
        if not file.exists():
            write_whole(file, secrets.token_hex(16))
        return file.read_text("ascii").strip()

    def begin(self, run: str) -> None:
        """From now on `put`, `batch` and the length are about that run."""
        with self._changed, self._storing("reading"):
            self._run, self._released = run, False
            rows = self._database.execute("SELECT id, seq FROM waiting WHERE run = ?", (run,))
            self._waiting = dict(rows.fetchall())

    def elsewhere(self) -> int:
        """How many wait for other runs."""
        with self._changed, self._storing("reading"):
            query = "SELECT count(*) FROM waiting WHERE run != ?"
            return int(self._database.execute(query, (self._run,)).fetchone()[0])

    # The collector's side -----------------------------------------------------------------------

    def put(self, trajectory: Trajectory) -> bool:
        """Keep it; False if it is here already. Return when it is durable and there is room."""
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
        """Insert it; False if the disk takes nothing now."""
        row = (self._run, trajectory_id, encoded, len(encoded))
        try:
            with self._storing("writing"):
                cursor = self._database.execute(
                    "INSERT INTO waiting (run, id, data, nbytes) VALUES (?, ?, ?, ?)", row
                )
        except StorageError as error:
            log.warning("%s; trying again", error)
            return False
        assert cursor.lastrowid is not None
        self._waiting[trajectory_id] = cursor.lastrowid
        return True

    def _has_room(self) -> bool:
        return len(self._waiting) < self._max_waiting

    def release(self) -> None:
        """The session has ended: nobody waits for room any more."""
        with self._changed:
            self._released = True
            self._changed.notify_all()

    # The sender's side --------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, trajectory_id: object) -> bool:
        return trajectory_id in self._waiting

    def batch(self, seconds: float) -> list[Spooled]:
        """The oldest that wait, as many as one request may have; waits for the first."""
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
                    taken.append(Spooled(seq, trajectory_id, self._data(seq)))
                return taken

    def _data(self, seq: int) -> bytes:
        row = self._database.execute("SELECT data FROM waiting WHERE seq = ?", (seq,)).fetchone()
        return bytes(row[0])

    def delivered(self, ids: Sequence[str]) -> None:
        """The learner has stored these."""
        with self._changed, self._storing("writing"):
            seqs = [(self._waiting.pop(each),) for each in ids if each in self._waiting]
            self._database.execute("BEGIN")
            self._database.executemany("DELETE FROM waiting WHERE seq = ?", seqs)
            self._database.execute("COMMIT")
            self._changed.notify_all()

    def set_aside(self, refused: Spooled, reason: str) -> None:
        """The learner will never have it: keep it out of the way, for a person to look at."""
        log.error("the learner has no use for %s: %s", refused.id, reason)
        with self._changed, self._storing("writing"):
            self.unusable += 1
            self._waiting.pop(refused.id, None)
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
