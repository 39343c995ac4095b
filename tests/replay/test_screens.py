"""Packed screens come back bit for bit, are kept once, and leave with their last user."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from distrl.episodes.demonstrations import demonstrate
from distrl.errors import CorruptSnapshot
from distrl.records import Screen
from distrl.replay.buffer.screen_store import ScreenStore
from distrl.replay.compressed_screen import CompressedScreen, compress
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.task_sets import load_task


def random_screen(seed: int, height: int = 9, width: int = 5) -> Screen:
    rng = np.random.default_rng(seed)
    return Screen(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))


@given(
    st.integers(1, 40), st.integers(1, 20), st.integers(1, 4), st.integers(0, 2**16), st.booleans()
)
def test_pixels_come_back_bit_for_bit(
    height: int, width: int, rows: int, seed: int, sliced: bool
) -> None:
    """Pictures of few different rows, as screens have them."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, 256, (rows, width, 3), dtype=np.uint8)
    pixels = pool[rng.integers(0, rows, height)]
    screen = Screen(np.repeat(pixels, 2, axis=1)[:, ::2] if sliced else pixels)
    packed = compress(screen)
    assert np.array_equal(packed.pixels, screen.pixels)
    assert packed.pixels.dtype == np.uint8
    assert (packed.height, packed.width, packed.digest) == (height, width, screen.digest)


def test_screens_of_the_phone_pack_well_and_stay_what_they_were() -> None:
    trajectory = demonstrate(load_task("notes.create/train/3")[0], SimulatedDevice("x"))
    for screen in trajectory.screens:
        packed = compress(screen)
        packed.verify()
        assert np.array_equal(packed.pixels, screen.pixels)
        assert packed.nbytes < screen.pixels.nbytes / 4
        assert compress(packed) is packed


def test_a_packed_screen_is_a_read_only_screen_that_travels_packed() -> None:
    packed = compress(random_screen(1, 200, 100))
    assert isinstance(packed, Screen)
    with pytest.raises(ValueError, match="read-only"):
        packed.pixels[0, 0, 0] = 1
    with pytest.raises(AttributeError):
        packed.pixels = np.zeros((1, 1, 3), np.uint8)  # type: ignore[misc]
    sent = pickle.dumps(packed)
    assert len(sent) < len(packed.packed) + 300
    arrived = pickle.loads(sent)
    assert isinstance(arrived, CompressedScreen)
    assert np.array_equal(arrived.pixels, packed.pixels)
    assert arrived.address == packed.address
    assert "100x200" in repr(packed)


def test_the_size_is_part_of_the_address() -> None:
    """2 × 3 black pixels and 3 × 2 of them are the same bytes."""
    one, two = (compress(Screen(np.zeros((*sides, 3), np.uint8))) for sides in ((2, 3), (3, 2)))
    assert one.packed == two.packed
    assert one.address != two.address


def test_threads_pack_and_unpack_at_once() -> None:
    screens = [random_screen(seed, 200, 100) for seed in range(40)]
    with ThreadPoolExecutor(8) as threads:
        packed = list(threads.map(compress, screens))
        pixels = list(threads.map(lambda screen: screen.pixels, packed))
    assert all(np.array_equal(a, b.pixels) for a, b in zip(pixels, screens, strict=True))


@pytest.mark.parametrize(
    "damage",
    [
        lambda packed: packed[:-10],
        lambda packed: b"",
        lambda packed: packed[:20] + bytes([packed[20] ^ 0xFF]) + packed[21:],
        lambda packed: zstandard.compress(zstandard.decompress(packed)[:-3]),
        lambda packed: zstandard.compress(zstandard.decompress(packed) + b"\x00"),
        lambda packed: zstandard.compress(bytes(10_000_000)),
        lambda packed: zstandard.ZstdCompressor(write_content_size=False).compress(bytes(9 * 15)),
        lambda packed: packed + b"\x00",
        lambda packed: packed + zstandard.compress(b"more"),
    ],
    ids=["cut", "empty", "flipped", "short", "long", "a bomb", "no size", "more", "two frames"],
)
def test_damaged_bytes_are_refused(damage: object) -> None:
    packed = compress(random_screen(1))
    assert callable(damage)
    broken = CompressedScreen(damage(packed.packed), 9, 5, packed.address)
    with pytest.raises(CorruptSnapshot):
        _ = broken.pixels


def test_a_wrong_address_is_noticed() -> None:
    one, other = compress(random_screen(1)), compress(random_screen(2))
    with pytest.raises(CorruptSnapshot, match="other pixels"):
        CompressedScreen(one.packed, 9, 5, other.address).verify()


def test_equal_screens_are_kept_once_and_leave_with_the_last_user() -> None:
    store = ScreenStore()
    first, again = store.keep(random_screen(1)), store.keep(random_screen(1))
    packed_elsewhere = store.keep(compress(random_screen(1)))
    other = store.keep(random_screen(2))
    assert first is again is packed_elsewhere
    assert len(store) == 2
    assert store.nbytes == first.nbytes + other.nbytes
    store.release(first)
    store.release(first)
    assert (store.users(first), len(store)) == (1, 2)
    store.release(packed_elsewhere)
    assert (store.users(first), len(store), store.nbytes) == (0, 1, other.nbytes)
    store.release(other)
    assert (len(store), store.nbytes) == (0, 0)
    with pytest.raises(ValueError, match="released more often"):
        store.release(other)
