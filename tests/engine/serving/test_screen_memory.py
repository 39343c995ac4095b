"""Screens through shared memory: bit by bit, in regions that are used again, and nothing beyond."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

import numpy as np
import pytest

from distrl.engine.serving.screen_memory import SMALLEST, ScreenMemory, ScreenView
from distrl.errors import UsageError
from distrl.records import Screen

RNG = np.random.default_rng(0)


def screen(height: int, width: int) -> Screen:
    return Screen(RNG.integers(0, 256, (height, width, 3), dtype=np.uint8))


def sizes(*screens: Screen) -> list[tuple[int, int]]:
    return [(each.height, each.width) for each in screens]


@contextmanager
def both_sides() -> Iterator[tuple[ScreenMemory, ScreenView]]:
    with closing(ScreenMemory()) as memory, closing(ScreenView(os.dup(memory.fileno()))) as view:
        yield memory, view


def test_screens_come_out_as_they_went_in_also_after_the_memory_has_grown() -> None:
    small, turned, large = screen(20, 10), screen(10, 20), screen(400, 300)
    with both_sides() as (memory, view):
        first, _ = memory.write([small, turned])
        read = view.read(first, sizes(small, turned))
        second, _ = memory.write([large])
        again = view.read(second, sizes(large))
    for mine, theirs in zip((small, turned, large), (*read, *again), strict=True):
        assert np.array_equal(mine.pixels, theirs.pixels)
        assert theirs.digest == mine.digest


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
        for offset, size in ((SMALLEST - 10, (20, 10)), (-600, (20, 10)), (0, (0, 10))):
            with pytest.raises(UsageError, match="no request of ours"):
                view.read(offset, [size])
        with pytest.raises(PermissionError):
            os.ftruncate(memory.fileno(), 0)
    unsealed = os.memfd_create("unsealed")
    with pytest.raises(UsageError, match="not sealed"):
        ScreenView(unsealed)
