"""What a run shows, kept for a process elsewhere that polls for it and shows it there."""

from __future__ import annotations

import secrets
import threading
from collections import deque
from dataclasses import dataclass
from typing import Self

from distrl.runs.run_status import RunStatus

KEPT = 1000  # sentences that were not polled yet


@dataclass(frozen=True, slots=True)
class ViewUpdate:
    """Sentences since the last update, and the status of the run."""

    origin: str  # the process that counts; a restarted one counts anew
    said: int  # sentences so far
    sentences: tuple[str, ...]
    status: RunStatus | None


class RemoteView:
    """Implements `RunView`."""

    def __init__(self) -> None:
        self._origin = secrets.token_hex(4)
        self._lock = threading.Lock()
        self._sentences: deque[str] = deque(maxlen=KEPT)
        self._said = 0
        self._status: RunStatus | None = None

    def show(self, status: RunStatus) -> None:
        self._status = status

    def say(self, sentence: str) -> None:
        with self._lock:
            self._sentences.append(sentence)
            self._said += 1

    def since(self, last: ViewUpdate | None) -> ViewUpdate:
        """The update that follows `last`."""
        with self._lock:
            known = last.said if last is not None and last.origin == self._origin else 0
            fresh = min(self._said - known, len(self._sentences))
            sentences = tuple(self._sentences)[len(self._sentences) - fresh :]
            return ViewUpdate(self._origin, self._said, sentences, self._status)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Keep what there is: it may be polled once more."""
