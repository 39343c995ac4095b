"""Remembers how screens were read, so that a learner that sees one again need not read it again.

Only for a reader that no longer learns. The least recently used go first; a screen takes about
200 kB, wherever the reader computes.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable

import torch
from torch import Tensor

from distrl.agent.starter.screen_reader import ReadScreen

Read = tuple[Tensor, ...]  # the tensors of one screen
AT_ONCE = 4  # screens
FIELDS = ("rows", "columns", "certainty", "letters", "features")


class ReadingMemory:
    """The last screens that were read."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._known: OrderedDict[bytes, Read] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def read(self, pixels: Tensor, reader: Callable[[Tensor], ReadScreen]) -> ReadScreen:
        """Every screen of a batch [n, height, width, 3], each new one read by the reader."""
        keys = [_digest(screen) for screen in pixels]
        new = {key: row for row, key in enumerate(keys) if key not in self._known}
        here = {key: self._known[key] for key in keys if key in self._known}
        if new:
            fresh = reader(pixels[list(new.values())])
            single = zip(*(getattr(fresh, name) for name in FIELDS), strict=True)
            # Copies: a part of a batch would keep the whole batch.
            owned = (tuple(part.clone() for part in parts) for parts in single)
            here |= dict(zip(new, owned, strict=True))
        for key in keys:
            self._known[key] = here[key]
            self._known.move_to_end(key)
        while len(self._known) > self._capacity:
            self._known.popitem(last=False)
        rows_of = zip(*(here[key] for key in keys), strict=True)
        rows, columns, certainty, letters, features = (torch.stack(tensors) for tensors in rows_of)
        return ReadScreen(rows, columns, certainty, letters, features)


def _each(pixels: Tensor, rows: list[int], reader: Callable[[Tensor], ReadScreen]) -> list[Read]:
    """Reads some rows, a few at a time: their features then stay in a processor's cache."""
    found: list[Read] = []
    for at in range(0, len(rows), AT_ONCE):
        fresh = reader(pixels[rows[at : at + AT_ONCE]])
        found += zip(*(getattr(fresh, name) for name in FIELDS), strict=True)
    return found


def _digest(screen: Tensor) -> bytes:
    return hashlib.blake2b(screen.cpu().numpy().tobytes(), digest_size=16).digest()
