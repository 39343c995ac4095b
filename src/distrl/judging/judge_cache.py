"""A cache of verdicts on disk: the same question is never paid for twice.

A file of JSON lines, each appended by one write, so that several processes may share it (a
`LineLog` has one writer) and a killed one loses nothing. A line that cannot be read is skipped: the
question is asked again. Keys name whole questions (`JudgePrompt.key_of`) and their judge.
"""

from __future__ import annotations

import contextlib
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from distrl.errors import storage_error
from distrl.json_lines import decode_line, encode_line
from distrl.records import Verdict


@dataclass(frozen=True, slots=True)
class _Line:
    key: str
    judge: str
    success: bool
    reason: str


class JudgeCache:
    """Verdicts by key. A context manager; safe for many threads. In memory only without a path."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.found = 0
        self.missed = 0
        self._verdicts: dict[tuple[str, str], Verdict] = {}
        self._file = -1
        self._lock = threading.Lock()

    def open(self) -> Self:
        if self.path is None:
            return self
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._file = os.open(self.path, flags, 0o644)
            self._read(self.path.read_bytes())
        except OSError as error:
            raise storage_error(error, f"opening the judge's cache {self.path}") from error
        return self

    def _read(self, content: bytes) -> None:
        if content and not content.endswith(b"\n"):
            os.write(self._file, b"\n")  # end what a killed process began
        for line in content.splitlines():
            with contextlib.suppress(ValueError):
                row = decode_line(line, _Line)
                self._verdicts[row.key, row.judge] = Verdict(row.success, row.reason, row.judge)

    def close(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._verdicts)

    def find(self, key: str, judge: str) -> Verdict | None:
        with self._lock:
            verdict = self._verdicts.get((key, judge))
            self.found += verdict is not None
            self.missed += verdict is None
            return verdict

    def add(self, key: str, verdict: Verdict) -> None:
        """Remember it; on the disk when this returns, as far as a killed process goes."""
        line = encode_line(_Line(key, verdict.judge, verdict.success, verdict.reason))
        with self._lock:
            self._verdicts[key, verdict.judge] = verdict
            if self._file < 0:
                return
            try:
                os.write(self._file, line)
            except OSError as error:
                raise storage_error(error, f"writing to the judge's cache {self.path}") from error
