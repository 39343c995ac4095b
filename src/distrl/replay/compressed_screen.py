"""A screen that keeps its pixels compressed and decompresses them on access.

It is a `Screen`, so a trajectory of compressed screens can be stored, sent and trained on like any
other; only pixels that are read are decompressed. Compression is lossless. Every access to `pixels`
decompresses again (about a third of a millisecond for 360 × 720), so keep the array if you need it
twice.

The pixels are compressed by zstd with a checksum. `address` identifies the content: the digest of
the compressed bytes, with the size. Equal addresses mean equal pixels; equal pixels have equal
addresses as long as the version of zstd is the same.
"""

from __future__ import annotations

import hashlib
import threading

import numpy as np
import zstandard

from distrl.errors import CorruptSnapshot
from distrl.records import Pixels, Screen

# Mean of 24 screens of the simulated phone, 360 × 720, in process time: level 3 makes 34.1 kB in
# 0.52 ms, level 1 36.9 kB in 0.44 ms; the earlier code (zlib, rows folded) 38.2 kB in 1.70 ms.
ZSTD_LEVEL = 3
OBJECT_BYTES = 400  # Python objects around the compressed pixels: screen, address, dict entry


class _Zstd(threading.local):
    """A compressor and a decompressor per thread, because they are not thread-safe."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True)
        self.decompressor = zstandard.ZstdDecompressor()


_zstd = _Zstd()


class CompressedScreen(Screen):
    """A screen in its compressed form. Equal addresses mean equal pixels."""

    __slots__ = ("_height", "_width", "address", "packed")

    address: str
    packed: bytes
    _height: int
    _width: int

    def __init__(self, packed: bytes, height: int, width: int, address: str) -> None:
        # The parent is a frozen dataclass; its generated constructor sets attributes this way too.
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
        """Bytes in memory."""
        return len(self.packed) + OBJECT_BYTES

    def verify(self) -> None:
        """Check the address and decompress; for screens that come from a disk or a network."""
        if _address(self.packed, self._height, self._width) != self.address:
            raise CorruptSnapshot(
                f"screen {self.address} holds other pixels than its address names; "
                "the copy is damaged, fetch it again"
            )
        _unpack(self.packed, self._height, self._width)

    def __repr__(self) -> str:
        return f"CompressedScreen({self._width}x{self._height}, {len(self.packed)} bytes)"

    def __reduce__(self) -> tuple[type[CompressedScreen], tuple[bytes, int, int, str]]:
        """Pickle the compressed form."""
        return CompressedScreen, (self.packed, self._height, self._width, self.address)


def compress(screen: Screen) -> CompressedScreen:
    """Return the screen in compressed form; a compressed screen is returned as it is."""
    if isinstance(screen, CompressedScreen):
        return screen
    loose = _zstd.compressor.compress(np.ascontiguousarray(screen.pixels).data)
    packed = bytes(memoryview(loose))  # copy: zstandard's buffer is as large as the worst case
    address = _address(packed, screen.height, screen.width)
    return CompressedScreen(packed, screen.height, screen.width, address)


def _address(packed: bytes, height: int, width: int) -> str:
    """Return the digest and the size, because 2 × 3 black pixels have the bytes of 3 × 2."""
    return f"{hashlib.blake2b(packed, digest_size=16).hexdigest()}-{width}x{height}"


def _unpack(packed: bytes, height: int, width: int) -> bytes:
    """Decompress; raise `CorruptSnapshot` unless the frame declares the size of such a screen."""
    nbytes = height * width * 3
    try:
        if zstandard.frame_content_size(packed) == nbytes:
            return _zstd.decompressor.decompress(packed, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise CorruptSnapshot(f"packed screen of {width}x{height}: {error}") from error
    raise CorruptSnapshot(
        f"{len(packed)} packed bytes do not hold a screen of {width}x{height}; fetch it again"
    )
