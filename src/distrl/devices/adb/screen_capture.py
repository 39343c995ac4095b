"""Three ways to capture the screen; the fastest one that works is chosen by measuring.

`emulator_pictures` has a fourth, for emulators. Which is fastest depends on the phone: a raw
picture costs bandwidth (10 MB over USB 2 take a quarter of a second), a PNG costs the phone's CPU
time. A picture is either complete or an error: each capture knows how its data must end, and raises
`BrokenPicture` for an incomplete one, so that no picture has a black lower half.
"""

from __future__ import annotations

import io
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from PIL import Image

from distrl.devices.adb.adb import AdbLink
from distrl.errors import BrokenPicture, CommandRefused, DeviceError
from distrl.records import Pixels

PICTURE_SECONDS = 10.0
PNG_START, PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"
LARGEST_SIDE = 16384  # pixels; a header with more is invalid
RGBA_8888, RGBX_8888, RGB_888, RGB_565 = 1, 2, 3, 4  # Android's numbers for pixel formats
PIXEL_BYTES = {RGBA_8888: 4, RGBX_8888: 4, RGB_888: 3, RGB_565: 2}


class Capture(Protocol):
    """A way to capture the screen."""

    @property
    def name(self) -> str: ...

    def take(self, link: AdbLink, seconds: float = PICTURE_SECONDS) -> Pixels: ...


@dataclass(frozen=True, slots=True)
class Screencap:
    """Android's `screencap` program: a header and raw pixels, or a PNG compressed on the phone."""

    name: str
    command: str
    read: Callable[[bytes, str], Pixels]

    def take(self, link: AdbLink, seconds: float = PICTURE_SECONDS) -> Pixels:
        result = link.shell(self.command, seconds)
        if result.code != 0:
            said = result.errors.decode("utf-8", "replace").strip()[:200]
            raise CommandRefused(
                f"device {link.serial}: {self.command}: code {result.code}: {said}"
            )
        return self.read(result.output, link.serial)  # `errors` has warnings (about two displays)


@dataclass(frozen=True, slots=True)
class Framebuffer:
    """The framebuffer service of adbd: needs no shell, but not every phone offers it."""

    name: str = "framebuffer"

    def take(self, link: AdbLink, seconds: float = PICTURE_SECONDS) -> Pixels:
        with link.open("framebuffer:", seconds) as connection:
            return read_framebuffer(connection.read_exactly, link.serial)


def fastest_capture(
    link: AdbLink,
    captures: Sequence[Capture],
    rounds: int = 3,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[Capture, dict[str, float]]:
    """Return the capture with the shortest median time, and the median of each that works."""

    def timed(capture: Capture) -> float:
        begun = clock()
        capture.take(link)
        return clock() - begun

    seconds: dict[str, float] = {}
    failures = []
    for capture in captures:
        try:
            times = sorted(timed(capture) for _ in range(rounds))
            seconds[capture.name] = times[rounds // 2]
        except (BrokenPicture, CommandRefused) as error:
            failures.append(f"{capture.name}: {error}")
        except DeviceError as error:
            if link.state() != "device":
                raise
            failures.append(f"{capture.name}: {error}")
    if not seconds:
        raise BrokenPicture(
            f"device {link.serial}: no way to take its picture works: {'; '.join(failures)}"
        )
    best = min(captures, key=lambda each: seconds.get(each.name, float("inf")))
    return best, seconds


# Reading pictures --------------------------------------------------------------------------------


def read_png(data: bytes, serial: str) -> Pixels:
    if not data.startswith(PNG_START) or not data.endswith(PNG_END):
        raise BrokenPicture(
            f"device {serial}: screencap -p wrote {len(data)} bytes that are no whole PNG "
            f"(they begin {data[:8]!r} and end {data[-8:]!r}); take it again"
        )
    try:
        with Image.open(io.BytesIO(data), formats=("PNG",)) as picture:
            return np.asarray(picture.convert("RGB")).copy()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise BrokenPicture(f"device {serial}: a PNG that cannot be read: {error}") from error


def read_raw(data: bytes, serial: str) -> Pixels:
    """Read raw pixels after a header of three numbers, since Android 9 four (the colour space)."""
    if len(data) >= 12:
        width, height, kind = struct.unpack_from("<III", data)
        depth = PIXEL_BYTES.get(kind)
        if depth and 0 < width <= LARGEST_SIDE and 0 < height <= LARGEST_SIDE:
            start = len(data) - width * height * depth
            if start in (12, 16):
                return _unpack(memoryview(data)[start:], width, height, kind)
    raise BrokenPicture(
        f"device {serial}: screencap wrote {len(data)} bytes that are no whole picture "
        f"(they begin {data[:16]!r}); take it again"
    )


def _unpack(data: memoryview | bytes, width: int, height: int, kind: int) -> Pixels:
    if kind == RGB_565:
        packed = np.frombuffer(data, dtype="<u2").reshape(height, width)
        red, green, blue = packed >> 11 << 3, packed >> 5 << 2, packed << 3
        return np.stack((red, green, blue), axis=-1).astype(np.uint8)
    pixels = np.frombuffer(data, dtype=np.uint8).reshape(height, width, PIXEL_BYTES[kind])
    return np.ascontiguousarray(pixels[:, :, :3])


def read_framebuffer(read_exactly: Callable[[int], bytes], serial: str) -> Pixels:
    """Read the framebuffer service's versions 1 and 2; version 2 also has a colour space."""
    [version] = struct.unpack("<I", read_exactly(4))
    if version not in (1, 2):
        raise BrokenPicture(f"device {serial}: an unknown kind of framebuffer")
    bits, *rest = struct.unpack(f"<{11 + version}I", read_exactly(44 + 4 * version))
    size, width, height, red, _, blue, _, green, _, _, _ = rest[version - 1 :]
    sound = 0 < width <= LARGEST_SIDE and 0 < height <= LARGEST_SIDE and size <= LARGEST_SIDE**2 * 4
    if not sound or max(red, green, blue) >= max(bits, 8):
        raise BrokenPicture(f"device {serial}: an unknown kind of framebuffer")
    depth = bits // 8
    data = read_exactly(size)
    if bits not in (24, 32) or size < width * height * depth:
        raise BrokenPicture(
            f"device {serial}: a framebuffer of {width} × {height} pixels of "
            f"{bits} bits in {size} bytes; that cannot be"
        )
    pixels = np.frombuffer(data, np.uint8)[: width * height * depth].reshape(height, width, depth)
    return np.ascontiguousarray(pixels[:, :, [red // 8, green // 8, blue // 8]])


RAW, PNG = Screencap("raw", "screencap", read_raw), Screencap("png", "screencap -p", read_png)
FRAMEBUFFER = Framebuffer()
CAPTURES: tuple[Capture, ...] = (FRAMEBUFFER, RAW, PNG)
