"""Read the phone states that collectors publish (`episodes.live_feed`), only those that changed.

It takes no lock and writes nothing. A slot whose checksum does not match is being written; a later
call returns it. If two collectors have a state of one phone (one was restarted), the newer wins.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from distrl.episodes.live_feed import FOLDER, PhoneState
from distrl.episodes.slot_file import HEADER, SLOT_BYTES

OLDEST_SECONDS = 1800.0  # older states come from an earlier process of the run


@dataclass(frozen=True, slots=True)
class SeenPhone:
    """A phone that changed; `picture`: a JPEG, None if it is the same as before."""

    state: PhoneState
    picture: bytes | None


class LiveWall:
    """Tracks which phone states of a run one viewer has seen."""

    def __init__(self, run: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = run / FOLDER
        self._clock = clock
        self._seen: dict[tuple[str, int], tuple[int, int]] = {}  # changes and pictures by slot
        self._newest: dict[str, float] = {}  # when the state of a phone was written

    def changed(self) -> Iterator[SeenPhone]:
        """Yield the phones that changed since the last call."""
        for path in sorted(self._folder.glob("*.phones")):
            try:
                with path.open("rb") as file:
                    slots = path.stat().st_size // SLOT_BYTES
                    for number in range(slots):
                        yield from self._look(file.fileno(), path.name, number)
            except OSError:  # just removed, or not a file
                continue

    def _look(self, file: int, name: str, number: int) -> Iterator[SeenPhone]:
        start = number * SLOT_BYTES
        header = os.pread(file, HEADER.size, start)
        if len(header) < HEADER.size:
            return
        changes, picture_number, nbytes, picture_bytes, checksum = HEADER.unpack(header)
        before, picture_before = self._seen.get((name, number), (0, 0))
        if changes == before or nbytes + picture_bytes > SLOT_BYTES:
            return
        content = os.pread(file, nbytes + picture_bytes, start + HEADER.size)
        if zlib.crc32(content) != checksum:
            return
        try:
            state = msgspec.json.decode(content[:nbytes], type=PhoneState)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return
        self._seen[name, number] = changes, picture_number
        if state.written < self._newest.get(state.device, self._clock() - OLDEST_SECONDS):
            return
        self._newest[state.device] = state.written
        new = picture_number != picture_before and picture_bytes
        yield SeenPhone(state, content[nbytes:] if new else None)
