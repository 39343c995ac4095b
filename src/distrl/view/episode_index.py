"""All episodes of a run as columns: first what `episodes.jsonl` has, then details from the store.

A page first asks for the newest few, for which next to nothing is read. The whole list is read from
the log's lines alone. Instructions, judges and the policy's confidence are in the headers of stored
trajectories, which are read without their screens. Both are incremental: only what is new since the
last call is read. `seq`, the row number in the store, identifies an episode in a permalink.
"""

from __future__ import annotations

import json
import math
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import msgspec

from distrl.errors import CorruptData, CorruptRecord
from distrl.json_lines import decode_line
from distrl.replay.store.trajectory_database import (
    connect_reader,
    decode_correction,
    typed_errors,
)
from distrl.replay.trajectory_encoding import MAGIC, PREFIX
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine

MAX_HEADER_BYTES = 16 * 2**20
NEWEST = 60  # episodes that a page begins with: a screenful
TAIL_BYTES = 512 * NEWEST  # the end of episodes.jsonl that is searched for their lines
Columns = dict[str, list[Any]]
LINE_COLUMNS = (
    "seq", "task", "template", "ending", "steps", "version", "staleness", "device", "ended",
)  # fmt: skip
DETAIL_COLUMNS = (
    "seq",
    "instruction",
    "apps",
    "judge",
    "reason",
    "unreadable",
    "surprise",
    "ending",
)


@dataclass(slots=True)
class EpisodeIndex:
    """The episodes of one run. Thread-safe."""

    run: RunDirectory
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _details_lock: threading.Lock = field(default_factory=threading.Lock)  # held for longer
    _read: int = 0  # bytes of episodes.jsonl read so far
    _lines: dict[str, EpisodeLine] = field(default_factory=dict)  # by id
    _places: dict[str, int] = field(default_factory=dict)  # `seq` by id
    _details: dict[int, tuple[Any, ...]] = field(default_factory=dict)  # by seq
    _corrected: int = 0  # the last correction that was seen
    _newest: dict[int, tuple[Any, ...]] = field(default_factory=dict)  # uncorrected, by seq

    def episodes(self) -> Columns:
        """Return a row for each episode, in the order of arrival."""
        with self._lock:
            self._read_lines()
            self._read_places()
            rows = [
                line_row(seq, name, self._lines.get(name)) for name, seq in self._places.items()
            ]
        return _columns(LINE_COLUMNS, rows)

    def newest(self, count: int = NEWEST) -> dict[str, Any]:
        """Return rows and details of the newest episodes, oldest first, and the total number."""
        total, rows, details = 0, list[tuple[Any, ...]](), list[tuple[Any, ...]]()
        with typed_errors(self.run.trajectories, "list the newest trajectories"):
            connection = connect_reader(self.run.trajectories)
            if connection is not None:
                with closing(connection):
                    [total] = connection.execute("SELECT count(*) FROM trajectories").fetchone()
                    query = "SELECT seq, id, correction FROM trajectories ORDER BY seq DESC LIMIT ?"
                    found = connection.execute(query, (count,)).fetchall()[::-1]
                    corrections = {seq: content for seq, _, content in found if content}
                    details = [
                        corrected(row, corrections.get(row[0]))
                        for row in self._newest_details(connection, [seq for seq, *_ in found])
                    ]
                lines = self._last_lines() if found else {}
                names = ((seq, name.decode("utf-8", "replace")) for seq, name, _ in found)
                rows = [line_row(seq, name, lines.get(name)) for seq, name in names]
        return {
            "total": total,
            "episodes": _columns(LINE_COLUMNS, rows),
            "details": _columns(DETAIL_COLUMNS, details),
        }

    def _newest_details(
        self, connection: sqlite3.Connection, places: list[int]
    ) -> list[tuple[Any, ...]]:
        """Return details in order of `places`; read only new headers: a wall asks often."""
        with self._lock:
            new = [seq for seq in places if seq not in self._newest]
            fresh = {row[0]: row for row in _read_details(connection, new)}
            known = {**self._newest, **fresh}
            self._newest = {seq: known[seq] for seq in places if seq in known}
            return list(self._newest.values())

    def _last_lines(self) -> dict[str, EpisodeLine]:
        """Return the lines at the end of the file, by episode id."""
        if not self.run.episodes.exists():
            return {}
        with self.run.episodes.open("rb") as file:
            start = max(0, self.run.episodes.stat().st_size - TAIL_BYTES)
            file.seek(start)
            lines = file.read().split(b"\n")[1 if start else 0 : -1]
        return {line.id: line for line in _decoded(lines)}

    def details(self) -> Columns:
        """Return the columns that the store adds; trajectories that were dropped have no row."""
        action = "read the headers of trajectories"
        with self._details_lock, typed_errors(self.run.trajectories, action):
            connection = connect_reader(self.run.trajectories)
            if connection is not None:
                with closing(connection):
                    self._read_headers(connection)
            return _columns(DETAIL_COLUMNS, [self._details[seq] for seq in sorted(self._details)])

    def __len__(self) -> int:
        with self._lock:
            self._read_places()
            return len(self._places)

    def _read_lines(self) -> None:
        if not self.run.episodes.exists():
            return
        with self.run.episodes.open("rb") as file:
            file.seek(self._read)
            fresh = file.read()
        whole = fresh[: fresh.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in _decoded(whole.splitlines()):
            self._lines[line.id] = line

    def _read_places(self) -> None:
        with typed_errors(self.run.trajectories, "list trajectories"):
            connection = connect_reader(self.run.trajectories)
            if connection is None:
                return
            with closing(connection):
                last = max(self._places.values(), default=0)
                query = "SELECT seq, id FROM trajectories WHERE seq > ? ORDER BY seq"
                for seq, name in connection.execute(query, (last,)):
                    self._places[name.decode("utf-8", "replace")] = seq

    def _read_headers(self, connection: sqlite3.Connection) -> None:
        last = max(self._details, default=0)
        query = "SELECT seq FROM bodies WHERE seq > ? ORDER BY seq"
        new = [seq for [seq] in connection.execute(query, (last,)).fetchall()]
        for row in _read_details(connection, new):
            self._details[row[0]] = row
        query = (
            "SELECT seq, corrected, correction FROM trajectories "
            "WHERE corrected > ? AND correction IS NOT NULL ORDER BY corrected"
        )
        for seq, at, content in connection.execute(query, (self._corrected,)).fetchall():
            self._corrected = at
            if seq in self._details:
                self._details[seq] = corrected(self._details[seq], content)


def line_row(seq: int, name: str, line: EpisodeLine | None) -> tuple[Any, ...]:
    """Return a row of LINE_COLUMNS; without a line, only what the id tells."""
    if line is None:
        return (seq, _task_of(name), _template_of(name), "", 0, 0, 0, "", 0.0)
    return (
        seq, line.task, line.template, line.ending.value, line.steps, line.weight_version,
        line.staleness, line.device, round(line.ended, 1),
    )  # fmt: skip


def _decoded(lines: Iterable[bytes]) -> Iterator[EpisodeLine]:
    for content in lines:
        try:
            yield decode_line(content, EpisodeLine)
        except (CorruptData, ValueError, msgspec.ValidationError):
            continue  # the report lists damage; the page shows the rest


def _read_details(
    connection: sqlite3.Connection, places: Iterable[int]
) -> Iterator[tuple[Any, ...]]:
    for seq in places:
        try:
            yield detail_row(seq, read_header(connection, seq))
        except (CorruptRecord, KeyError, TypeError, ValueError, sqlite3.Error):
            continue  # a damaged row costs its details, and one that was dropped has none


def read_header(connection: sqlite3.Connection, seq: int) -> dict[str, Any]:
    """Read the header of a stored trajectory, without its screens."""
    with closing(connection.blobopen("bodies", "body", seq, readonly=True)) as blob:
        magic, _, length = PREFIX.unpack(blob.read(PREFIX.size))
        if magic != MAGIC or length > MAX_HEADER_BYTES:
            raise CorruptRecord(f"trajectory number {seq} has no header; it is damaged")
        header: dict[str, Any] = json.loads(blob.read(length))
    return header


def detail_row(seq: int, header: dict[str, Any]) -> tuple[Any, ...]:
    """Return a row of DETAIL_COLUMNS; `surprise` is −log of the least likely answer, in nats."""
    verdict, decisions = header["verdict"] or {}, header["decisions"]
    sums = [-sum(each.get("log_probs") or [0.0]) for each in decisions]
    surprise = max(sums, default=0.0)
    return (
        seq,
        header["task"]["instruction"],
        list(header["task"]["apps"]),
        verdict.get("judge", ""),
        verdict.get("reason", "") or " ".join(header["notes"]),
        sum(each["action"][0] == "Unreadable" for each in decisions),
        round(surprise, 2) if math.isfinite(surprise) else None,
        header["ending"],
    )


def corrected(row: tuple[Any, ...], correction: bytes | None) -> tuple[Any, ...]:
    """Return a detail row with the verdict of its correction, if there is one."""
    if correction is None:
        return row
    new = decode_correction(bytes(correction))
    return (*row[:3], new.verdict.judge, new.verdict.reason, *row[5:7], new.ending.value)


def _columns(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Columns:
    if not rows:
        return {name: [] for name in names}
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def _task_of(name: str) -> str:
    """Return the task in an id such as collector-0.1/7/shopping.search/train/0."""
    return "/".join(name.split("/")[-3:])


def _template_of(name: str) -> str:
    return _task_of(name).partition("/")[0]
