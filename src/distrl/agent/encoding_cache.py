"""A cache of a frozen encoder's outputs for prompts and screens that are drawn several times.

Reinforcement learning trains only the starter's decoder: the same screen and prompt get the same
encoding every time, and encoding is most of the work. So the learner encodes each step once. Steps
are keyed by content (`encoding_key`): the text of the prompt and the addresses of its screens. A
packed screen carries its address, so that the pixels of a cached step are neither unpacked nor
copied nor hashed.

Rows are on the model's device, in a few blocks with one tensor for each part of an encoding, and
are gathered by index. The memory is bounded in bytes, also while it grows: blocks are added and
never copied. The least recently used rows are evicted first.
"""

from __future__ import annotations

import itertools
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from distrl.agent.prompt import Prompt

Key = tuple[str, ...]
Parts = tuple[Tensor, ...]  # each [n, …], with rows of one shape whatever was encoded
FIRST_ROWS = 256  # rows of the first block; each further one doubles the total


def encoding_key(prompt: Prompt) -> Key:
    """Return a key that is the same for prompts with the same text and screens."""
    return (prompt.text, *(screen.address for screen in prompt.screens))


class EncodingCache:
    """Rows of encodings by key. Thread-safe."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.encoded = 0  # cache misses: rows that had to be encoded
        self.found = 0  # cache hits
        self._rows: OrderedDict[Key, int] = OrderedDict()  # least recently used first
        self._free: list[int] = []
        self._blocks: list[Parts] = []
        self._ends: list[int] = []  # each block's end in the numbering of all rows
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        parts = itertools.chain.from_iterable(self._blocks)
        return sum(part.untyped_storage().nbytes() for part in parts)

    def rows(self, keys: Sequence[Key], encode: Callable[[list[int]], Parts]) -> Parts:
        """Return the encodings of a batch; `encode` gets the indices of those not cached."""
        while True:
            with self._lock:
                new = {key: place for place, key in enumerate(keys) if key not in self._rows}
                self.found += len(keys) - len(new)
                if not new:
                    return self._gathered(keys)
                self.encoded += len(new)
            fresh = encode(list(new.values()))  # slow; other threads may `put` meanwhile
            if len(set(keys)) > self._most_rows(fresh):  # the batch never fits into the cache
                return encode(list(range(len(keys))))
            with self._lock:
                self._touch(keys)
                self.put(list(new), fresh)
                if all(key in self._rows for key in keys):  # other threads may have evicted some
                    return self._gathered(keys)

    def add_missing(self, keys: Sequence[Key], encode: Callable[[list[int]], Parts]) -> None:
        """Encode the rows of a batch that are not cached yet (prefetching)."""
        with self._lock:
            new = {key: place for place, key in enumerate(keys) if key not in self._rows}
            self._touch(keys)
            self.encoded += len(new)
        if new:
            self.put(list(new), encode(list(new.values())))

    def _gathered(self, keys: Sequence[Key]) -> Parts:
        self._touch(keys)
        by_block = list(self._by_block([self._rows[key] for key in keys]))
        if len(by_block) == 1:
            [(block, _, rows)] = by_block
            return tuple(kept.index_select(0, rows) for kept in block)
        found = tuple(part.new_empty((len(keys), *part.shape[1:])) for part in self._blocks[0])
        for block, index, rows in by_block:
            for part, kept in zip(found, block, strict=True):
                part.index_copy_(0, index, kept.index_select(0, rows))
        return found

    def put(self, keys: Sequence[Key], parts: Parts) -> None:
        """Insert rows that were encoded elsewhere; if they do not all fit, only the last ones."""
        with self._lock:
            keys, parts = self._that_fit(keys, parts)
            self._touch(keys)
            self._make_room(len({key for key in keys if key not in self._rows}), parts)
            places = []
            for key in keys:
                place = self._rows.pop(key) if key in self._rows else self._free.pop()
                self._rows[key] = place
                places.append(place)
            if places:
                parts = tuple(p.detach().to(k) for p, k in zip(parts, self._blocks[0], strict=True))
            for block, index, rows in self._by_block(places):
                for kept, part in zip(block, parts, strict=True):
                    kept.index_copy_(0, rows, part.index_select(0, index))

    def _by_block(self, places: Sequence[int]) -> Iterator[tuple[Parts, Tensor, Tensor]]:
        """Yield each block that has some of these places, their indices, and rows in the block."""
        found: dict[int, list[tuple[int, int]]] = {}
        for index, place in enumerate(places):
            number = bisect_right(self._ends, place)
            first = self._ends[number - 1] if number else 0
            found.setdefault(number, []).append((index, place - first))
        for number, pairs in found.items():
            block = self._blocks[number]
            indices, rows = torch.tensor(pairs, device=block[0].device).unbind(1)
            yield block, indices, rows

    # Memory -------------------------------------------------------------------------------------

    def _touch(self, keys: Sequence[Key]) -> None:
        for key in keys:
            if key in self._rows:
                self._rows.move_to_end(key)

    def _that_fit(self, keys: Sequence[Key], parts: Parts) -> tuple[Sequence[Key], Parts]:
        most = self._most_rows(parts)
        if len(keys) <= most:
            return keys, parts
        first = len(keys) - most
        return keys[first:], tuple(part[first:] for part in parts)

    def _most_rows(self, parts: Parts) -> int:
        row = sum(part[0].numel() * part.element_size() for part in parts)
        return self.max_bytes // row

    def _make_room(self, count: int, parts: Parts) -> None:
        """Free `count` rows: allocate a block if the bound allows, else evict the LRU rows."""
        size = self._ends[-1] if self._ends else 0
        wanted = len(self._rows) + count
        most = self._most_rows(parts)
        if wanted > size and size < most:
            self._grow(min(most, max(FIRST_ROWS, 2 * size, wanted)), parts)
        while len(self._free) < count:
            _, place = self._rows.popitem(last=False)
            self._free.append(place)

    def _grow(self, size: int, parts: Parts) -> None:
        """Add a block, so that there are `size` rows in all."""
        before = self._ends[-1] if self._ends else 0
        like = self._blocks[0] if self._blocks else parts
        self._blocks.append(
            tuple(part.new_empty((size - before, *part.shape[1:])) for part in like)
        )
        self._ends.append(size)
        self._free.extend(range(before, size))
