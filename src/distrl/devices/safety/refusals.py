"""Refused actions of guarded phones: the records, their file, and their delivery to the learner.

A collector that does not share the learner's disk appends its refusals to a file of its own. A
`RefusalOutbox` sends them from there with the heartbeats: in order, `MAX_REFUSALS` at a time, and
again until the learner acknowledges them. The position reached is stored beside the file, so that a
restarted collector continues from there. If an acknowledgement is lost, the same records are sent
twice, and the learner keeps them once.
"""

from __future__ import annotations

import fcntl
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from distrl.errors import storage_error
from distrl.json_lines import LineLog, decode_line

MAX_REFUSALS = 500  # in one batch
MAX_CHARACTERS = 300  # of each text that is sent


@dataclass(frozen=True, slots=True)
class Refusal:
    """An action that was not carried out."""

    time: float  # seconds since 1970
    device: str
    action: str
    why: str


@dataclass(frozen=True, slots=True)
class RefusalBatch:
    """Refusals on their way to the learner, and the number that was left out (`cut`)."""

    refusals: Annotated[tuple[Refusal, ...], Meta(max_length=MAX_REFUSALS)] = ()
    cut: Annotated[int, Meta(ge=0, le=10**9)] = 0


def append_refusals(path: Path, *refusals: Refusal) -> None:
    """Append all refusals or, if the disk is full, none. Several processes may share the file: each
    locks it while it writes.
    """
    if not refusals:
        return
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("ab") as locked:
            fcntl.flock(locked, fcntl.LOCK_EX)
            with LineLog.open(path) as log:
                log.append(*refusals)
    except OSError as error:
        raise storage_error(error, f"writing what was refused to {path}") from error


def short(text: str, most: int = MAX_CHARACTERS) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


class RefusalOutbox:
    """Reads refusals appended to `path`, to send them. One thread at a time calls it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._note = path.with_suffix(".sent")
        self._position = self._read_to = self._noted()

    def batch(self, *, last: bool = False) -> RefusalBatch:
        """Return the batch to send next. `last`: no batch follows, so the rest counts as cut."""
        refusals: list[Refusal] = []
        cut, at = 0, self._position
        with suppress(FileNotFoundError), self.path.open("rb") as file:
            at = at if at <= self.path.stat().st_size else 0  # the file was emptied
            file.seek(at)
            for line in file:
                full = len(refusals) == MAX_REFUSALS
                if not line.endswith(b"\n") or (full and not last):
                    break
                refusal = None if full else _read(line)
                if refusal is None:
                    cut += 1
                else:
                    refusals.append(refusal)
                at += len(line)
        self._read_to = at
        return RefusalBatch(tuple(refusals), cut)

    def sent(self) -> None:
        """Mark the last batch as delivered: the learner has acknowledged it."""
        if self._read_to == self._position:
            return
        self._position = self._read_to
        draft = self._note.with_suffix(".draft")
        with suppress(OSError):  # after a restart the batch is sent again, which does no harm
            draft.write_text(str(self._position))
            draft.replace(self._note)

    def _noted(self) -> int:
        try:
            return max(0, int(self._note.read_text("ascii")))
        except (OSError, ValueError):
            return 0


def _read(line: bytes) -> Refusal | None:
    """Parse a line, with its texts shortened to `MAX_CHARACTERS`; return None if it is damaged."""
    try:
        found = decode_line(line, Refusal)
    except ValueError:
        return None
    texts = (_sendable(short(text)) for text in (found.device, found.action, found.why))
    return Refusal(found.time, *texts)


def _sendable(text: str) -> str:
    """Replace lone surrogates, which a model may write and msgpack cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
