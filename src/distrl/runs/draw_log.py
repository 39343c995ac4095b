"""The learner's estimates for each trajectory at its last draw: `draws.sqlite` of a run.

It has one row per trajectory, replaced at each draw, so that the file grows with the trajectories
and not with the updates. The learner's thread writes once per update, in one transaction that does
not wait for the disk: the log is only displayed (`distrl view`), nothing is computed from it. A
storage error ends the log, not the run. Rows can be read while the log is written.
"""

from __future__ import annotations

import json
import logging
import math
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self
from urllib.parse import quote

SCHEMA = """
CREATE TABLE IF NOT EXISTS draws (
    id TEXT PRIMARY KEY, updates INTEGER, times INTEGER, priority REAL, steps TEXT
) WITHOUT ROWID
"""
DIGITS = 4  # significant digits that are stored
log = logging.getLogger(__name__)


class DrawnTrajectory(Protocol):
    """The part of `learning.learner_report.Drawn` that is logged."""

    @property
    def id(self) -> str: ...
    @property
    def priority(self) -> float: ...
    @property
    def times_drawn(self) -> int: ...
    @property
    def values(self) -> Sequence[float]: ...
    @property
    def ratios(self) -> Sequence[float]: ...
    @property
    def advantages(self) -> Sequence[float]: ...


@dataclass(frozen=True, slots=True)
class LastDraw:
    """The last draw of a trajectory; a figure that was not finite is None."""

    updates: int
    times_drawn: int
    priority: float
    values: list[float | None]
    ratios: list[float | None]
    advantages: list[float | None]


class DrawLog:
    """Writes the log, as a context manager."""

    def __init__(self, connection: sqlite3.Connection | None) -> None:
        self._connection = connection

    @classmethod
    def open(cls, path: Path) -> Self:
        try:
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = OFF", SCHEMA):
                connection.execute(statement)
        except sqlite3.Error as error:
            log.warning("draws are not logged in %s: %s", path, error)
            return cls(None)
        return cls(connection)

    def add(self, updates: int, drawn: Iterable[DrawnTrajectory]) -> None:
        """Record the draws of one update."""
        rows = [
            (each.id, updates, each.times_drawn, _rounded(each.priority), _steps(each))
            for each in drawn
        ]
        if self._connection is None or not rows:
            return
        try:
            with self._connection:
                self._connection.execute("BEGIN")
                query = "INSERT OR REPLACE INTO draws VALUES (?, ?, ?, ?, ?)"
                self._connection.executemany(query, rows)
        except sqlite3.Error as error:
            log.warning("draws are not logged any more: %s", error)
            self.close()

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_draw(path: Path, trajectory_id: str) -> LastDraw | None:
    """Return the last draw of a trajectory; None if there is none or it cannot be read."""
    if not path.exists():
        return None
    query = "SELECT updates, times, priority, steps FROM draws WHERE id = ?"
    try:
        address = f"file:{quote(str(path.absolute()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            row = connection.execute(query, (trajectory_id,)).fetchone()
            return None if row is None else LastDraw(*row[:3], *json.loads(row[3]))
    except (sqlite3.Error, ValueError, TypeError) as error:
        log.warning("%s cannot be read: %s", path, error)
        return None


def _steps(drawn: DrawnTrajectory) -> str:
    rows = (drawn.values, drawn.ratios, drawn.advantages)
    return json.dumps([[_rounded(figure) for figure in row] for row in rows])


def _rounded(figure: float) -> float | None:
    return float(f"{figure:.{DIGITS}g}") if math.isfinite(figure) else None
