"""A cache of verdicts on disk: the same question is never paid for twice.

A file of JSON lines, each written by one unbuffered write, so that several processes can share it
and a killed one loses nothing. A line that cannot be read is skipped: its question is asked
again. Keys name whole questions (`JudgePrompt.key_of`) and the judge that was asked.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Self

from distrl.errors import storage_error
from distrl.records import Verdict


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
            entry = _entry(line)
            if entry is not None:
                key, verdict = entry
                self._verdicts[key, verdict.judge] = verdict

    def close(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *exception: object) -> None:
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
        """Store a verdict; it survives the death of this process once this returns."""
        members = {
            "key": key,
            "judge": verdict.judge,
            "success": verdict.success,
            "reason": verdict.reason,
        }
        line = json.dumps(members).encode() + b"\n"
        with self._lock:
            self._verdicts[key, verdict.judge] = verdict
            if self._file < 0:
                return
            try:
                os.write(self._file, line)
            except OSError as error:
                raise storage_error(error, f"writing to the judge's cache {self.path}") from error


def _entry(line: bytes) -> tuple[str, Verdict] | None:
    try:
        row = json.loads(line)
        key, success, reason, judge = (row[name] for name in ("key", "success", "reason", "judge"))
    except (ValueError, TypeError, KeyError):
        return None
    texts = all(isinstance(text, str) for text in (key, reason, judge))
    return (key, Verdict(success, reason, judge)) if texts and type(success) is bool else None
