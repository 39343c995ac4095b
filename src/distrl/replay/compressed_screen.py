"""A screen that keeps its picture compressed, and draws it again when its pixels are asked for.

It is a `Screen`, so a trajectory of compressed screens is a trajectory like any other: it can be
stored, sent and trained on, and only the pixels that somebody looks at are ever unpacked. They come
back bit for bit. Every look at `pixels` unpacks anew (about half a millisecond for 360 × 720), so
whoever needs them twice keeps the array.

The packing is made for screens: a row that repeats the row above it is folded away, and zlib packs
what is left. Folding first is faster than zlib alone (a third of a phone's rows repeat) and leaves
less. `address` names the content: the digest of the folded pixels with their size, which does not
depend on the version of zlib.
"""

from __future__ import annotations

import hashlib
import zlib

import numpy as np

from distrl.errors import CorruptSnapshot
from distrl.records import Pixels, Screen

ZLIB_LEVEL = 3  # 6 % smaller than 1 for a quarter of a millisecond; 4 and above are 3 times slower
OBJECT_BYTES = 400  # of Python objects around the packed pixels: this one, its address, its place


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
        pixels = unfold(_unpack(self.packed, self._height, self._width), self._height, self._width)
        pixels.flags.writeable = False
        return pixels

    @property
    def height(self) -> int:
        return self._height

    @property
    def width(self) -> int:
        return self._width

    @property
    def nbytes(self) -> int:
        """What it takes in memory."""
        return len(self.packed) + OBJECT_BYTES

    def verify(self) -> None:
        """Unpack and compare with the address; for screens that come from a disk or a network."""
        folded = _unpack(self.packed, self._height, self._width)
        if address_of(folded, self._height, self._width) != self.address:
            raise CorruptSnapshot(
                f"screen {self.address} unpacks to other pixels than its address names; "
                "the copy is damaged, fetch it again"
            )

    def __repr__(self) -> str:
        return f"CompressedScreen({self._width}x{self._height}, {len(self.packed)} bytes)"

    def __reduce__(self) -> tuple[type[CompressedScreen], tuple[bytes, int, int, str]]:
        """It travels packed."""
        return CompressedScreen, (self.packed, self._height, self._width, self.address)


def compress(screen: Screen) -> CompressedScreen:
    """The same screen, packed; one that is packed already is handed back as it is."""
    if isinstance(screen, CompressedScreen):
        return screen
    return pack(fold(screen.pixels), screen.height, screen.width)


def pack(folded: bytes, height: int, width: int) -> CompressedScreen:
    packed = zlib.compress(folded, ZLIB_LEVEL)
    return CompressedScreen(packed, height, width, address_of(folded, height, width))


def address_of(folded: bytes, height: int, width: int) -> str:
    """The content's name. The size is part of it: 2 × 3 black pixels are not 3 × 2 of them."""
    return f"{hashlib.blake2b(folded, digest_size=16).hexdigest()}-{width}x{height}"


def fold(pixels: Pixels) -> bytes:
    """One bit for each row, set where it differs from the row above; then those rows."""
    rows = np.ascontiguousarray(pixels).reshape(len(pixels), -1)  # [height, width * 3]
    differs = np.ones(len(rows), dtype=np.bool_)
    np.any(rows[1:] != rows[:-1], axis=1, out=differs[1:])
    return np.packbits(differs).tobytes() + rows[differs].tobytes()


def unfold(folded: bytes, height: int, width: int) -> Pixels:
    bits = (height + 7) // 8
    differs = np.unpackbits(np.frombuffer(folded, np.uint8, bits), count=height)
    rows = np.frombuffer(folded, np.uint8, offset=bits)
    if not differs[0] or len(rows) != int(differs.sum()) * width * 3:
        raise CorruptSnapshot(
            f"{len(folded)} bytes are no folded screen of {width}x{height}; fetch it again"
        )
    which = np.cumsum(differs, dtype=np.int64) - 1
    return rows.reshape(-1, width * 3)[which].reshape(height, width, 3)


def _unpack(packed: bytes, height: int, width: int) -> bytes:
    """Never more than such a screen can hold, whatever the bytes say."""
    most = (height + 7) // 8 + height * width * 3
    unpacking = zlib.decompressobj()
    try:
        folded = unpacking.decompress(packed, most + 1)
    except zlib.error as error:
        raise CorruptSnapshot(f"packed screen of {width}x{height}: {error}") from error
    if not unpacking.eof or len(folded) < (height + 7) // 8:
        raise CorruptSnapshot(
            f"{len(packed)} packed bytes do not hold a screen of {width}x{height}; fetch it again"
        )
    return folded
