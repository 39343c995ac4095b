"""Reads a trajectory store from any process, also while a run writes to it.

It takes no lock and changes nothing. Trajectories come in the order in which they were stored, each
with its position. A later `read` after that position, in this process or another, returns what was
added since. Only committed rows are seen. A row whose checksum does not match is skipped and listed
in `damages`; a file whose structure is damaged raises `CorruptRecord`.

A trajectory comes with its latest verdict. If it was corrected after the position from which a read
starts, it comes again, at the position of its last correction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distrl.errors import CorruptRecord
from distrl.records import Trajectory
from distrl.replay.store.trajectory_database import (
    checksum_of,
    connect_reader,
    decode_correction,
    is_damage,
    typed_errors,
)
from distrl.replay.trajectory_encoding import decode_trajectory

Position = int  # of a trajectory or a correction in a store; later ones are larger
BEGINNING: Position = 0
AT_ONCE = 64  # positions in one query

FIND = """
SELECT seq, id, correction, checksum, body FROM trajectories JOIN bodies USING (seq) WHERE {} = ?
"""
# The next positions after :cursor in a read that started after :after, when the last position was
# :known: arrivals, and corrections, except those that an arrival of this read already included.
FOLLOWING = """
SELECT seq AS position, seq FROM bodies WHERE seq > :cursor
UNION ALL
SELECT corrected AS position, seq FROM trajectories
WHERE corrected > :cursor AND (seq <= :after OR corrected > :known)
ORDER BY position LIMIT :limit
"""
CHANGED = """
SELECT seq AS position, seq FROM trajectories WHERE seq > :after
UNION ALL
SELECT corrected AS position, seq FROM trajectories WHERE corrected > :after
ORDER BY position LIMIT :limit
"""
ROW = """
SELECT seq, id, corrected, correction, checksum, body FROM trajectories LEFT JOIN bodies USING (seq)
WHERE seq = ?
"""


@dataclass(frozen=True, slots=True)
class StoreRows:
    """Undecoded rows of a store, for a copy of it (`TrajectoryStore.take_rows`)."""

    rows: tuple[tuple[Any, ...], ...]  # seq, id, corrected, correction, checksum, body
    oldest: int  # the first trajectory that has not been dropped


@dataclass(frozen=True, slots=True)
class StoredTrajectory:
    """A trajectory and its position."""

    trajectory: Trajectory
    position: Position


@dataclass(frozen=True, slots=True)
class Damage:
    """A row of a store that could not be read and was skipped."""

    seq: int
    reason: str

    def __str__(self) -> str:
        return f"trajectory number {self.seq}: {self.reason}"


class TrajectoryReader:
    """Reads the trajectories of a store from a given position on."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._damages: dict[tuple[int, str], Damage] = {}

    @property
    def damages(self) -> tuple[Damage, ...]:
        """The rows that could not be read so far, each once."""
        return tuple(self._damages.values())

    @property
    def position(self) -> Position:
        """The position of the newest trajectory or correction."""
        with typed_errors(self._directory, "find the last position"):
            connection = connect_reader(self._directory)
            if connection is None:
                return BEGINNING
            with closing(connection):
                return last_position(connection)

    def read(self, after: Position = BEGINNING) -> Iterator[StoredTrajectory]:
        """Yield what is stored after `after`; call again later with the last position.

        No transaction is open while the caller works, so a slow reader does not make the log grow.
        """
        with typed_errors(self._directory, "read"):
            connection = connect_reader(self._directory)
            if connection is None:
                return
            with closing(connection):
                known = last_position(connection)
                cursor = after
                while found := connection.execute(
                    FOLLOWING,
                    {"cursor": cursor, "after": after, "known": known, "limit": AT_ONCE},
                ).fetchall():
                    for cursor, seq in found:
                        trajectory = self.find(connection, "seq", seq)
                        if trajectory is not None:
                            yield StoredTrajectory(trajectory, cursor)

    def rows(self, after: Position, nbytes: int) -> StoreRows:
        """Return the next rows that changed after `after`, of about `nbytes`; none at the end."""
        with typed_errors(self._directory, "read"):
            connection = connect_reader(self._directory)
            if connection is None:
                return StoreRows((), 0)
            with closing(connection):
                connection.execute("BEGIN")  # one state of the store for all queries
                oldest = connection.execute("SELECT min(seq) FROM bodies").fetchone()[0]
                changed = connection.execute(CHANGED, {"after": after, "limit": AT_ONCE})
                rows: list[tuple[Any, ...]] = []
                for position, seq in changed.fetchall():
                    row = connection.execute(ROW, (seq,)).fetchone()
                    # a correction with a later position is copied when that position is reached
                    early = row[2] is not None and row[2] > position
                    rows.append((*row[:2], None, None, *row[4:]) if early else row)
                    nbytes -= len(row[5] or b"")
                    if nbytes <= 0:
                        break
        return StoreRows(tuple(rows), oldest or 0)

    def find(
        self, connection: sqlite3.Connection, column: str, value: int | bytes
    ) -> Trajectory | None:
        """Return the trajectory of one row; None if it is missing, dropped or damaged."""
        try:
            row = connection.execute(FIND.format(column), (value,)).fetchone()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            self._report(value if isinstance(value, int) else 0, str(error))
            return None
        return None if row is None else self._decode(*row)

    def _decode(
        self, seq: int, name: Any, correction: Any, checksum: Any, body: Any
    ) -> Trajectory | None:
        """Decode a row; in a damaged one, all values but `seq` may be of any type."""
        whole = isinstance(name, bytes) and isinstance(body, bytes)
        if not whole or checksum_of(seq, name, body) != checksum:
            self._report(seq, "its checksum does not match: a damaged row")
            return None
        try:
            trajectory = decode_trajectory(body)
        except CorruptRecord as error:
            self._report(seq, str(error))
            return None
        if correction is None:
            return trajectory
        try:
            return decode_correction(bytes(correction)).applied_to(trajectory)
        except (CorruptRecord, TypeError) as error:  # only the correction is lost
            self._report(seq, str(error))
            return trajectory

    def _report(self, seq: int, reason: str) -> None:
        self._damages[seq, reason] = Damage(seq, reason)


def last_position(connection: sqlite3.Connection) -> Position:
    """Return the position of the newest trajectory or correction, dropped ones included."""
    query = "SELECT max(seq), (SELECT max(corrected) FROM trajectories) FROM trajectories"
    return max(at or BEGINNING for at in connection.execute(query).fetchone())
