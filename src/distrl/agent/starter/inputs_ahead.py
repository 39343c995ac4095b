"""Inputs that are made before they are asked for: text as tokens, screens unpacked and drawn.

A request waits while the batch before it is decided; threads make its inputs meanwhile. They are
known by what they are made of, the text and the address of the screen, so that they are the same as
those that would be made later. Nobody has to expect anything, and what was expected in vain is
dropped: `expect` is a hint.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import torch
from torch import Tensor

from distrl.agent.encoding_cache import Key, encoding_key
from distrl.agent.prompt import Prompt
from distrl.records import Pixels

ROWS = 256  # that are kept at once: 200 MB of the starter's screens
THREADS = 4
STALE_SECONDS = 60.0  # after which somebody else may have the row of what nobody asked for

Make = Callable[[Prompt, Pixels], list[int]]  # draws the screen there; the tokens of the text


@dataclass(slots=True, eq=False)
class Expected:
    """The inputs of one prompt: tokens, and a row of pixels that is drawn when they are there."""

    key: Key
    row: int
    token_ids: Future[list[int]]
    since: float
    wanted: int = 1  # by how many


class InputsAhead:
    """Any thread may expect. What was expected twice is made once."""

    def __init__(self, make: Make, shape: tuple[int, ...], rows: int = ROWS) -> None:
        self._rows = rows
        self._make = make
        self._shape = shape
        self._pixels: Tensor | None = None  # uint8 [rows, …], where a GPU fetches them
        self._free = list(range(rows))
        self._expected: dict[Key, Expected] = {}  # oldest first
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None

    def expect(self, prompt: Prompt) -> None:
        """Have the inputs of this prompt made, if there is room for them."""
        with self._lock:
            key = encoding_key(prompt)
            expected = self._expected.get(key)
            if expected is not None:
                expected.wanted += 1
                return
            if not self._free and not self._drop_stale():
                return
            threads, pixels = self._started()
            row = self._free.pop()
            token_ids = threads.submit(self._make, prompt, pixels[row].numpy())
            self._expected[key] = Expected(key, row, token_ids, time.monotonic())

    def take(self, prompts: Sequence[Prompt]) -> list[Expected | None]:
        """Those of these prompts that were expected; hand them to `give_back` after that."""
        with self._lock:
            if not self._expected:
                return [None] * len(prompts)
            taken = [self._expected.get(encoding_key(prompt)) for prompt in prompts]
            for each in taken:
                if each is not None:
                    each.since = time.monotonic()
            return taken

    def row(self, taken: Expected) -> Tensor:  # […]
        """Its pixels, when its tokens are there."""
        assert self._pixels is not None
        return self._pixels[taken.row]

    def give_back(self, taken: Sequence[Expected | None]) -> None:
        """Let their rows be used again, where nobody else expects the same."""
        with self._lock:
            for each in taken:
                if each is not None:
                    each.wanted -= 1
                    if each.wanted == 0:
                        self._drop(each.key)

    def _started(self) -> tuple[ThreadPoolExecutor, Tensor]:
        if self._threads is None or self._pixels is None:
            self._threads = ThreadPoolExecutor(THREADS, "inputs")
            self._pixels = new_pixels((self._rows, *self._shape))
        return self._threads, self._pixels

    def _drop_stale(self) -> bool:
        """Free the row of the oldest, if nobody has taken it in time."""
        oldest = next(iter(self._expected.values()))
        stale = oldest.token_ids.done() and time.monotonic() - oldest.since > STALE_SECONDS
        if stale:
            self._drop(oldest.key)
        return stale

    def _drop(self, key: Key) -> None:
        self._free.append(self._expected.pop(key).row)


def new_pixels(shape: tuple[int, ...]) -> Tensor:
    """Memory for pixels from which a GPU fetches them, if there is one."""
    on_gpu: bool = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return torch.empty(shape, dtype=torch.uint8, pin_memory=on_gpu)
