"""A screen that keeps its pixels compressed, and unpacks them when they are asked for.

It is a `Screen`, so a trajectory of compressed screens is a trajectory like any other: it can be
stored, sent and trained on, and only the pixels that are looked at are ever unpacked. They come
back bit for bit. Every access to `pixels` unpacks anew (about a third of a millisecond for
360 × 720), so keep the array where it is needed twice.

The pixels are packed by zstd with a checksum. `address` names the content: the digest of the packed
bytes, with the size. Equal addresses mean equal pixels; equal pixels have equal addresses as long
as one version of zstd packs them.
"""

from __future__ import annotations

import hashlib
import threading

import numpy as np
import zstandard

from distrl.errors import CorruptSnapshot
from distrl.records import Pixels, Screen

# Mean of 24 screens of the simulated phone, 360 × 720, in process time: level 3 makes 34.1 kB in
# 0.52 ms, level 1 36.9 kB in 0.44 ms; what was here before (zlib, rows folded) 38.2 kB in 1.70 ms.
ZSTD_LEVEL = 3
OBJECT_BYTES = 400  # of Python objects around the packed pixels: this one, its address, its place


class _Zstd(threading.local):
    """A compressor and a decompressor for each thread: they must not be shared at once."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True)
        self.decompressor = zstandard.ZstdDecompressor()


_zstd = _Zstd()


class CompressedScreen(Screen):
    """A screen in its packed form. Equal addresses mean equal pixels."""

    __slots__ = ("_height", "_width", "address", "packed")

    address: str
    packed: bytes
    _height: int
    _width: int

    def __init__(self, packed: bytes, height: int, width: int, address: str) -> None:
        # The parent is frozen; what it forbids to everybody its own constructor does this way.
        for name, value in (
            ("packed", packed),
            ("_height", height),
            ("_width", width),
            ("address", address),
        ):
            object.__setattr__(self, name, value)

    @property
    def pixels(self) -> Pixels:
        shape = (self._height, self._width, 3)
        return np.frombuffer(_unpack(self.packed, *shape[:2]), np.uint8).reshape(shape)

    @property
    def height(self) -> int:
        return self._height

    @property
    def width(self) -> int:
        return self._width

    @property
    def nbytes(self) -> int:
        """In memory."""
        return len(self.packed) + OBJECT_BYTES

    def verify(self) -> None:
        """Check the address and unpack; for screens that come from a disk or a network."""
        if _address(self.packed, self._height, self._width) != self.address:
            raise CorruptSnapshot(
                f"screen {self.address} holds other pixels than its address names; "
                "the copy is damaged, fetch it again"
            )
        _unpack(self.packed, self._height, self._width)

    def __repr__(self) -> str:
        return f"CompressedScreen({self._width}x{self._height}, {len(self.packed)} bytes)"

    def __reduce__(self) -> tuple[type[CompressedScreen], tuple[bytes, int, int, str]]:
        """It travels packed."""
        return CompressedScreen, (self.packed, self._height, self._width, self.address)


def compress(screen: Screen) -> CompressedScreen:
    """The same screen, packed; one that is packed already is handed back as it is."""
    if isinstance(screen, CompressedScreen):
        return screen
    loose = _zstd.compressor.compress(np.ascontiguousarray(screen.pixels).data)
    packed = bytes(memoryview(loose))  # zstandard leaves room for pixels that do not compress
    address = _address(packed, screen.height, screen.width)
    return CompressedScreen(packed, screen.height, screen.width, address)


def _address(packed: bytes, height: int, width: int) -> str:
    """The size is part of it: 2 × 3 black pixels are not 3 × 2 of them."""
    return f"{hashlib.blake2b(packed, digest_size=16).hexdigest()}-{width}x{height}"


def _unpack(packed: bytes, height: int, width: int) -> bytes:
    """Never more than such a screen can hold, whatever the bytes say."""
    nbytes = height * width * 3
    try:
        if zstandard.frame_content_size(packed) == nbytes:
            return _zstd.decompressor.decompress(packed, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise CorruptSnapshot(f"packed screen of {width}x{height}: {error}") from error
    raise CorruptSnapshot(
        f"{len(packed)} packed bytes do not hold a screen of {width}x{height}; fetch it again"
    )
