"""Prefetched model inputs: text is tokenised and screens are unpacked and drawn in advance.

A request waits while the batch before it is decided; threads prepare its inputs meanwhile. Entries
are keyed by prompt text and screen address. Prefetching is optional; entries nobody takes are
evicted after `STALE_SECONDS`. An entry keeps its row of pixels for as long as somebody reads it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from distrl.agent.encoding_cache import Key, encoding_key
from distrl.agent.prompt import Prompt
from distrl.records import Pixels

ROWS = 256  # buffered screens: 200 MB at the starter's screen size
THREADS = 4
STALE_SECONDS = 60.0  # an entry that nobody took for this long may be evicted

Make = Callable[[Prompt, Pixels], list[int]]  # draws the screen into the pixels; returns token ids


@dataclass(slots=True, eq=False)
class Expected:
    """The inputs of one prompt: token ids, and a row of pixels, drawn once `token_ids` is done."""

    key: Key
    row: int
    token_ids: Future[list[int]]
    since: float
    wanted: int = 1  # number of pending requests for this entry
    readers: int = 0  # callers that have taken it and not given it back


class InputsAhead:
    """A thread-safe prefetch cache. A prompt that is expected twice is prepared once."""

    def __init__(self, make: Make, shape: tuple[int, ...], rows: int = ROWS) -> None:
        self._rows = rows
        self._make = make
        self._shape = shape
        self._pixels: Pixels | None = None  # [rows, …]
        self._free = list(range(rows))
        self._expected: dict[Key, Expected] = {}  # oldest first
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None

    def expect(self, prompt: Prompt) -> None:
        """Start preparing the inputs of this prompt, if a row is free."""
        with self._lock:
            key = encoding_key(prompt)
            expected = self._expected.get(key)
            if expected is not None:
                expected.wanted += 1
                return
            if not self._free:
                self._drop_stale()
            if not self._free:
                return
            threads, pixels = self._started()
            row = self._free.pop()
            token_ids = threads.submit(self._make, prompt, pixels[row])
            self._expected[key] = Expected(key, row, token_ids, time.monotonic())

    def take(self, prompts: Sequence[Prompt]) -> list[Expected | None]:
        """Return each prompt's entry, or None; the caller passes them to `give_back` later."""
        with self._lock:
            if not self._expected:
                return [None] * len(prompts)
            taken = [self._expected.get(encoding_key(prompt)) for prompt in prompts]
            for each in taken:
                if each is not None:
                    each.since = time.monotonic()
                    each.wanted = max(0, each.wanted - 1)
                    each.readers += 1
            return taken

    def row(self, taken: Expected) -> Pixels:  # […]
        """Return the entry's pixels; they are complete only once `token_ids` is done."""
        assert self._pixels is not None
        pixels: Pixels = self._pixels[taken.row]
        return pixels

    def give_back(self, taken: Sequence[Expected | None]) -> None:
        """Stop reading these entries, and free those that nobody reads or waits for any more."""
        with self._lock:
            for each in taken:
                if each is not None:
                    each.readers -= 1
                    if each.readers == 0 and each.wanted == 0:
                        self._drop(each)

    def _started(self) -> tuple[ThreadPoolExecutor, Pixels]:
        if self._threads is None or self._pixels is None:
            self._threads = ThreadPoolExecutor(THREADS, "inputs")
            self._pixels = np.empty((self._rows, *self._shape), np.uint8)
        return self._threads, self._pixels

    def _drop_stale(self) -> None:
        """Evict the oldest entry if it is past `STALE_SECONDS` and has no readers."""
        oldest = next(iter(self._expected.values()), None)
        if oldest is None or oldest.readers or not oldest.token_ids.done():
            return
        if time.monotonic() - oldest.since > STALE_SECONDS:
            self._drop(oldest)

    def _drop(self, entry: Expected) -> None:
        """Evict an entry without readers; its row becomes free once drawing into it has ended."""
        del self._expected[entry.key]
        entry.token_ids.add_done_callback(lambda _: self._free.append(entry.row))
