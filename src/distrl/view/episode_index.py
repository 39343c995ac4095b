"""All episodes of a run as columns: at once what `episodes.jsonl` has, then what the store adds.

The first list is read from the lines alone, so that ten thousand episodes are there at once. What
they were told to do, who judged them and how sure the policy was stands in the headers of the
stored trajectories; those are read without their screens. Both only read what is new since the
last time. `seq`, the place in the store, is the name of an episode in a permalink.
"""

from __future__ import annotations

import json
import math
import sqlite3
import threading
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
    """The episodes of one run; any thread may ask."""

    run: RunDirectory
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _read: int = 0  # bytes of episodes.jsonl
    _lines: dict[str, EpisodeLine] = field(default_factory=dict)  # by id
    _places: dict[str, int] = field(default_factory=dict)  # of the store, by id
    _details: dict[int, tuple[Any, ...]] = field(default_factory=dict)  # by seq
    _corrected: int = 0  # the last correction that was seen

    def episodes(self) -> Columns:
        """A row for each episode, in the order of arrival."""
        with self._lock:
            self._read_lines()
            self._read_places()
            rows = []
            for name, seq in self._places.items():
                line = self._lines.get(name)
                if line is None:
                    rows.append((seq, _task_of(name), _template_of(name), "", 0, 0, 0, "", 0.0))
                    continue
                rows.append((
                    seq, line.task, line.template, line.ending.value, line.steps,
                    line.weight_version, line.staleness, line.device, round(line.ended, 1),
                ))  # fmt: skip
        return _columns(LINE_COLUMNS, rows)

    def details(self) -> Columns:
        """What the store knows beside; trajectories that were dropped have no row."""
        with self._lock, typed_errors(self.run.trajectories, "read the headers of trajectories"):
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
        for content in whole.splitlines():
            try:
                line = decode_line(content, EpisodeLine)
            except (CorruptData, ValueError, msgspec.ValidationError):
                continue  # the report lists damage; the page shows the rest
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
        for [seq] in connection.execute(query, (last,)).fetchall():
            try:
                self._details[seq] = detail_row(seq, read_header(connection, seq))
            except (CorruptRecord, KeyError, TypeError, ValueError, sqlite3.Error):
                continue  # a damaged row costs its details
        query = (
            "SELECT seq, corrected, correction FROM trajectories "
            "WHERE corrected > ? AND correction IS NOT NULL ORDER BY corrected"
        )
        for seq, at, content in connection.execute(query, (self._corrected,)).fetchall():
            self._corrected = at
            if seq in self._details:
                new = decode_correction(bytes(content))
                row = self._details[seq]
                verdict = (new.verdict.judge, new.verdict.reason)
                self._details[seq] = (*row[:3], *verdict, *row[5:7], new.ending.value)


def read_header(connection: sqlite3.Connection, seq: int) -> dict[str, Any]:
    """The header of a stored trajectory, without its screens."""
    with closing(connection.blobopen("bodies", "body", seq, readonly=True)) as blob:
        magic, _, length = PREFIX.unpack(blob.read(PREFIX.size))
        if magic != MAGIC or length > MAX_HEADER_BYTES:
            raise CorruptRecord(f"trajectory number {seq} has no header; it is damaged")
        header: dict[str, Any] = json.loads(blob.read(length))
    return header


def detail_row(seq: int, header: dict[str, Any]) -> tuple[Any, ...]:
    """As in DETAIL_COLUMNS; `surprise` is −log of the least likely answer, in nats."""
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


def _columns(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Columns:
    if not rows:
        return {name: [] for name in names}
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def _task_of(name: str) -> str:
    """The task in an id such as collector-0.1/7/shopping.search/train/0."""
    return "/".join(name.split("/")[-3:])


def _template_of(name: str) -> str:
    return _task_of(name).partition("/")[0]
