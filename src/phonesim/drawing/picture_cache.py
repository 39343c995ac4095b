"""A least-recently-used cache of drawn pictures, bounded in bytes.

`functools.lru_cache` bounds the count, but pictures differ in size by a factor of a thousand.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from distrl.records import Pixels


class PictureCache:
    """Evicts the least recently used picture; never stores one above `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[Hashable, Pixels] = OrderedDict()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable, draw: Callable[[], Pixels]) -> Pixels:
        """Return the cached picture of that key, or call `draw` and cache its result."""
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return kept
        pixels = draw()
        if pixels.nbytes <= self._max_bytes:
            self._kept[key] = pixels
            self.bytes += pixels.nbytes
            while self.bytes > self._max_bytes:
                _, dropped = self._kept.popitem(last=False)
                self.bytes -= dropped.nbytes
        return pixels
