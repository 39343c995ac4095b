"""A replay of many more screens than there is room for: caches stay within their bytes.

The quick tests draw 5,000 screens twice each, in an order that no cache can foresee, with room for
2,816 rows of 1 KiB. The slow ones fill caches to their size in a run: 1 GiB, in 131,072 rows.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from distrl.agent.encoding_cache import FIRST_ROWS, EncodingCache, Key, Parts
from distrl.agent.feature_cache import FeatureCache
from distrl.records import Screen
from distrl.replay.compressed_screen import CompressedScreen

SCREENS, BATCH, WIDTH = 5000, 64, 256
ROW = 4 * WIDTH  # bytes
GIB, WIDE = 2**30, 2048  # of the slow tests: bytes, and numbers in a row of 8 KiB
MAX_BYTES = 11 * FIRST_ROWS * ROW  # the last block that is added is smaller than those before it


class Allocations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of tensors that are made and still there: now, and the most at once."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now = self.most = 0
        self._tensors: Counter[int] = Counter()  # by the storage that they share

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if isinstance(made, Tensor):
            storage = made.untyped_storage()
            self._add(storage.data_ptr(), storage.nbytes())
            weakref.finalize(made, self._remove, storage.data_ptr(), storage.nbytes())
        return made

    def _add(self, storage: int, nbytes: int) -> None:
        self._tensors[storage] += 1
        if self._tensors[storage] == 1:
            self.now += nbytes
            self.most = max(self.most, self.now)

    def _remove(self, storage: int, nbytes: int) -> None:
        self._tensors[storage] -= 1
        if not self._tensors[storage]:
            self.now -= nbytes


def draws(times: int = 2) -> Iterator[list[int]]:
    rng = Random(0)
    for _ in range(times):
        order = rng.sample(range(SCREENS), SCREENS)
        yield from (order[first : first + BATCH] for first in range(0, SCREENS, BATCH))


def made_of(numbers: Sequence[int]) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float32).unsqueeze(1).expand(-1, WIDTH).clone()


def test_encodings_stay_within_their_bytes_also_while_their_memory_grows() -> None:
    cache, drawn = EncodingCache(MAX_BYTES), 0
    with Allocations() as allocations:
        for batch in draws():
            keys: list[Key] = [(str(number),) for number in batch]

            def encode(places: list[int], batch: list[int] = batch) -> Parts:
                return (made_of([batch[place] for place in places]),)

            [found] = cache.rows(keys, encode)
            assert found[:, 0].tolist() == batch
            assert cache.nbytes <= MAX_BYTES
            drawn += len(batch)
    assert cache.nbytes == MAX_BYTES
    assert cache.found > 0
    assert cache.found + cache.encoded >= drawn
    a_batch = 8 * BATCH * ROW  # what is encoded, kept, gathered and compared at a time
    assert MAX_BYTES <= allocations.most <= MAX_BYTES + a_batch


def test_features_stay_within_their_bytes_whatever_their_sizes() -> None:
    cache = FeatureCache(MAX_BYTES)
    screens = [CompressedScreen(b"", 1 + number % 7, 1, str(number)) for number in range(SCREENS)]

    def compute(some: Sequence[Screen]) -> list[Tensor]:
        return [made_of([int(each.address)] * each.height) for each in some]

    with Allocations() as allocations:
        for number, batch in enumerate(draws()):
            chosen = [screens[each] for each in batch]
            if number % 2:
                cache.add_missing(chosen, compute)
            found = cache.of(chosen, compute)
            assert found is not None
            assert float(found[0, 0]) == batch[0]
            assert cache.nbytes <= MAX_BYTES
    assert cache.nbytes == pytest.approx(MAX_BYTES, rel=0.01)
    assert cache.nbytes == sum(each.nbytes for each in cache._kept.values())
    a_batch = 8 * BATCH * 7 * ROW
    assert allocations.most <= MAX_BYTES + a_batch


def wide_rows(count: int, number: int) -> Tensor:
    return torch.full((count, WIDE), float(number))


@pytest.mark.slow
def test_a_gibibyte_of_encodings_is_never_more() -> None:
    """More keys than fit: 160 batches of 1,024, so that a fifth of them is evicted."""
    cache, batch = EncodingCache(GIB), 1024
    with Allocations() as allocations:
        for number in range(160):
            keys: list[Key] = [(f"{number}", f"{place}") for place in range(batch)]

            def encode(places: list[int], number: int = number) -> Parts:
                return (wide_rows(len(places), number),)

            [found] = cache.rows(keys, encode)
            assert (found.shape, float(found[-1, -1])) == ((batch, WIDE), number)
            assert cache.nbytes <= GIB
    assert (len(cache), cache.nbytes) == (2**17, GIB)
    assert allocations.most <= GIB + 4 * batch * WIDE * 4
    last = [("159", f"{place}") for place in range(batch)]
    assert float(cache.rows(last, lambda places: pytest.fail("known"))[0][0, 0]) == 159


@pytest.mark.slow
def test_a_gibibyte_of_features_is_never_more() -> None:
    cache, batch = FeatureCache(GIB), 256

    def compute(some: Sequence[Screen]) -> list[Tensor]:
        return [wide_rows(1, int(each.address)) for each in some]

    with Allocations() as allocations:
        for first in range(0, 160 * 1024, batch):
            screens = [CompressedScreen(b"", 1, 1, str(first + n)) for n in range(batch)]
            found = cache.of(screens, compute)
            assert found is not None
            assert (found.shape, float(found[-1, -1])) == ((batch, WIDE), first + batch - 1)
            assert cache.nbytes <= GIB
    assert (len(cache), cache.nbytes) == (2**17, GIB)
    assert allocations.most <= GIB + 4 * batch * WIDE * 4
