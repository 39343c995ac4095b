"""Screenshots of a served phone in the three formats of Android.

`screencap -p` is a PNG: one filter and the fastest level of zlib, which for drawn screens is three
to five times as fast as an image library and no larger. `screencap` and the framebuffer service
send raw pixels after a header. Each format is made once for each frame.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

from distrl.records import Pixels

SIGNATURE = b"\x89PNG\r\n\x1a\n"
RGBA_8888 = 1
SRGB = 1  # colour space, in the header of `screencap` since Android 9


class Camera:
    """Caches the formats of the last frame. A frame is identified by its array, never written."""

    def __init__(self) -> None:
        self._frame: Pixels | None = None
        self._png = b""
        self._pixels = b""

    def _look_at(self, frame: Pixels) -> None:
        if frame is not self._frame:
            self._frame, self._png, self._pixels = frame, b"", b""

    def png(self, frame: Pixels) -> bytes:
        self._look_at(frame)
        if not self._png:
            self._png = png_of(frame)
        return self._png

    def raw(self, frame: Pixels) -> bytes:
        """Encode as `screencap` does: width, height, format, colour space, then RGBA."""
        height, width = frame.shape[:2]
        return struct.pack("<4I", width, height, RGBA_8888, SRGB) + self._rgba(frame)

    def framebuffer(self, frame: Pixels) -> bytes:
        """Encode as the framebuffer service (version 1): the layout of a pixel, then RGBA."""
        height, width = frame.shape[:2]
        layout = (0, 8, 16, 8, 8, 8, 24, 8)  # offset and length in bits: red, blue, green, alpha
        size = width * height * 4
        return struct.pack("<13I", 1, 32, size, width, height, *layout) + self._rgba(frame)

    def _rgba(self, frame: Pixels) -> bytes:
        self._look_at(frame)
        if not self._pixels:
            self._pixels = rgba_of(frame)
        return self._pixels


def rgba_of(frame: Pixels) -> bytes:
    words = frame[..., 0].astype(np.uint32)  # [height, width]; one pass for each colour
    words |= np.left_shift(frame[..., 1], 8, dtype=np.uint32)
    words |= np.left_shift(frame[..., 2], 16, dtype=np.uint32)
    words |= np.uint32(0xFF000000)
    return words.astype("<u4", copy=False).tobytes()


def png_of(frame: Pixels) -> bytes:
    height, width = frame.shape[:2]
    lines = np.zeros((height, 1 + width * 3), np.uint8)  # each begins with its filter: 0, none
    lines[:, 1:] = frame.reshape(height, width * 3)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits of RGB
    data = zlib.compress(lines.data, 1)
    return SIGNATURE + _part(b"IHDR", header) + _part(b"IDAT", data) + _part(b"IEND", b"")


def _part(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(data, zlib.crc32(kind))
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)
