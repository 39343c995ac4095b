"""Screens through shared memory: bit by bit, in regions that are used again, and nothing beyond."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

import numpy as np
import pytest

from distrl.engine.serving.screen_memory import (
    SMALLEST,
    ScreenMemory,
    ScreenView,
    WrittenScreen,
    written,
)
from distrl.errors import UsageError
from distrl.records import Screen
from distrl.replay.compressed_screen import CompressedScreen, compress

RNG = np.random.default_rng(0)


def screen(height: int, width: int) -> CompressedScreen:
    return compress(Screen(RNG.integers(0, 256, (height, width, 3), dtype=np.uint8)))


@contextmanager
def both_sides() -> Iterator[tuple[ScreenMemory, ScreenView]]:
    with closing(ScreenMemory()) as memory, closing(ScreenView(os.dup(memory.fileno()))) as view:
        yield memory, view


def test_screens_come_out_as_they_went_in_also_after_the_memory_has_grown() -> None:
    small, turned, large = screen(20, 10), screen(10, 20), screen(400, 300)
    with both_sides() as (memory, view):
        first, _ = memory.write([small, turned])
        read = view.read(first, [written(small), written(turned)])
        second, _ = memory.write([large])
        again = view.read(second, [written(large)])
    for mine, theirs in zip((small, turned, large), (*read, *again), strict=True):
        assert theirs.packed == mine.packed
        assert theirs.address == mine.address
        theirs.verify()


def test_a_region_is_used_again_only_when_it_was_released() -> None:
    each = screen(20, 10)
    with closing(ScreenMemory()) as memory:
        first, size = memory.write([each])
        other, _ = memory.write([each])
        assert other != first
        memory.release(first, size)
        assert memory.write([each])[0] == first
        assert memory.nbytes == 2 * SMALLEST


def test_the_server_cannot_be_made_to_read_beyond_the_memory_or_to_fault() -> None:
    with both_sides() as (memory, view):
        memory.write([screen(20, 10)])
        strange = ((SMALLEST - 10, 600, 20), (-600, 600, 20), (0, 600, 0), (0, 0, 20))
        for offset, nbytes, height in strange:
            with pytest.raises(UsageError, match="no request of ours"):
                view.read(offset, [WrittenScreen(nbytes, height, 10, "address")])
        with pytest.raises(PermissionError):
            os.ftruncate(memory.fileno(), 0)
    unsealed = os.memfd_create("unsealed")
    with pytest.raises(UsageError, match="not sealed"):
        ScreenView(unsealed)
