"""A `Capture` over the emulator's own gRPC service, without a process on the phone or adb.

`EmulatorController.getScreenshot` returns the pixels of the display. The first picture is compared
with one from adb; if size or contents differ, this capture is not used. The emulator rotates its
picture with the emulated case, not as Android draws, so pictures of a rotated phone are taken over
adb, and so are those of a dark display, for which the emulator returns no pixels.

The channel opens at the first picture, which is after the collector was forked, and closes with the
device. Every call has a deadline, and failures are the `DeviceError`s that adb would have raised.
The few required fields of two messages are parsed by hand: that is shorter than a copy of the
emulator's .proto file, and needs no protobuf.

A running emulator advertises its ports and its gRPC token in `avd/running/pid_NUMBER.ini`, in a
folder that only its user can read. A killed emulator leaves its file behind, so the newest file
that names the console port is used.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from distrl.devices.adb.adb import AdbLink
from distrl.devices.adb.adb_shell import AdbShell
from distrl.devices.adb.adb_socket import Deadline
from distrl.devices.adb.android_state import rotation
from distrl.devices.adb.screen_capture import LARGEST_SIDE, PICTURE_SECONDS, RAW, Capture
from distrl.errors import (
    BrokenPicture,
    CommandRefused,
    DeviceDisconnected,
    DeviceError,
    DeviceTimeout,
)
from distrl.records import Pixels

if TYPE_CHECKING:
    import grpc

METHOD = "/android.emulation.control.EmulatorController/getScreenshot"
RGBA8888, RGB888 = 1, 2  # the emulator's numbers for pixel formats
PIXEL_BYTES = {RGBA8888: 4, RGB888: 3}
REQUEST = bytes([1 << 3, RGB888])  # ImageFormat: field 1, format; no size means the display's size
LARGEST_MESSAGE = 1 << 28  # bytes; gRPC's default limit of 4 MB is less than one screen
OPTIONS = (
    ("grpc.max_receive_message_length", LARGEST_MESSAGE),
    ("grpc.enable_http_proxy", 0),  # it is on this machine
    # gRPC backs off after a failed connection; the next emulator on this port must not inherit it.
    ("grpc.use_local_subchannel_pool", 1),
)
BY_ADB: Capture = RAW
COMPARE_SECONDS = 3.0  # until two pictures agree; something may be moving at first
OTHER_SHARE, OTHER_LEVELS = 0.05, 24  # pictures differ if more of the pixels are off by more of 256


def pictures_of(console: int) -> EmulatorPictures | None:
    """Return the capture for this console port; None without a gRPC service or without grpcio."""
    found = advertisement_of(console)
    if found is None or importlib.util.find_spec("grpc") is None:
        return None
    return EmulatorPictures(found)


class EmulatorPictures:
    """Implements `Capture` for one emulator. After `close`, the next use opens it again."""

    name = "grpc"

    def __init__(self, advertisement: EmulatorAdvertisement, by_adb: Capture = BY_ADB) -> None:
        self.advertisement = advertisement
        self._by_adb = by_adb
        self._agreed = False  # whether a picture has agreed with one from adb
        self._channel: grpc.Channel | None = None

    def take(self, link: AdbLink, seconds: float = PICTURE_SECONDS) -> Pixels:
        deadline = Deadline(seconds)
        pixels = self._upright(link, deadline)
        if pixels is None:
            return self._by_adb.take(link, max(deadline.left, 0.001))
        return pixels if self._agreed else self._compare(link, pixels, deadline)

    def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def _upright(self, link: AdbLink, deadline: Deadline) -> Pixels | None:
        """Return the picture, or None if it is rotated or empty.

        Android's rotation is queried after the picture: a phone that turns in between counts as
        rotated.
        """
        pixels = read_image(self._ask(link.serial, deadline), link.serial)
        upright = pixels is not None and rotation(AdbShell(link, keep_open=False)) == 0
        return pixels if upright else None

    def _ask(self, serial: str, deadline: Deadline) -> bytes:
        import grpc  # slow to import, and only emulators need it

        port, token = self.advertisement.grpc_port, self.advertisement.token
        if self._channel is None:
            # The name, since some emulators listen on 127.0.0.1 and others on ::1.
            self._channel = grpc.insecure_channel(f"localhost:{port}", OPTIONS)
        allowed = (("authorization", f"Bearer {token}"),) if token else ()
        try:
            answer: bytes = self._channel.unary_unary(METHOD)(
                REQUEST, timeout=max(deadline.left, 0.001), metadata=allowed
            )
        except grpc.RpcError as error:
            self.close()  # so that the next picture reconnects at once
            raise device_error(error, f"device {serial}, gRPC port {port}", deadline) from error
        return answer

    def _compare(self, link: AdbLink, first: Pixels, deadline: Deadline) -> Pixels:
        pixels: Pixels | None = first
        patience = Deadline(min(COMPARE_SECONDS, deadline.left))
        while True:
            beside = self._by_adb.take(link, max(deadline.left, 0.001))
            if pixels is not None and agree(pixels, beside):
                self._agreed = True
                return pixels
            if patience.passed:
                raise CommandRefused(
                    f"device {link.serial}: the picture over gRPC is not the one that adb shows "
                    f"({_size(pixels)} and {_size(beside)}); it is not used"
                )
            pixels = self._upright(link, deadline)


def agree(one: Pixels, other: Pixels) -> bool:
    """Return whether two pictures are equal but for small areas (a clock) and low colour bits."""
    if one.shape != other.shape:
        return False
    apart = np.abs(one[::2, ::2].astype(np.int16) - other[::2, ::2]) > OTHER_LEVELS
    return bool(apart.any(axis=-1).mean() < OTHER_SHARE)


def _size(pixels: Pixels | None) -> str:
    return "none" if pixels is None else f"{pixels.shape[1]} × {pixels.shape[0]} pixels"


def device_error(error: grpc.RpcError, who: str, deadline: Deadline) -> DeviceError:
    """Map a gRPC failure to a `DeviceError`."""
    code = error.code().name
    said = f"{who}: getScreenshot: {code}: {str(error.details())[:200]}"
    match code:
        case "DEADLINE_EXCEEDED":
            return DeviceTimeout(f"{who}: no picture within {deadline.seconds:g} s")
        case "UNAVAILABLE" | "CANCELLED":
            return DeviceDisconnected(f"{said}; is the emulator running?")
        case "UNAUTHENTICATED" | "PERMISSION_DENIED":
            return CommandRefused(f"{said}; it wants another token than its file in avd/running")
    return CommandRefused(said)


# Reading the answer ------------------------------------------------------------------------------


def read_image(answer: bytes, serial: str) -> Pixels | None:
    """Parse an `Image` message; None if it is rotated or empty, `BrokenPicture` if incomplete."""
    try:
        image = dict(_fields(memoryview(answer)))
        layout = dict(_fields(_piece(image, 1)))  # ImageFormat: kind, rotation, width, height
        turned = dict(_fields(_piece(layout, 2)))
        kind, width, height = (_number(layout, field) for field in (1, 3, 4))
        quarter_turns, data = _number(turned, 1), _piece(image, 4)
    except ValueError as error:
        raise BrokenPicture(
            f"device {serial}: {len(answer)} bytes over gRPC that are no picture ({error}; they "
            f"begin {answer[:16]!r}); take it again"
        ) from error
    if quarter_turns or not data:
        return None
    depth = PIXEL_BYTES.get(kind, 0)
    sound = depth and 0 < width <= LARGEST_SIDE and 0 < height <= LARGEST_SIDE
    if not sound or len(data) != width * height * depth:
        raise BrokenPicture(
            f"device {serial}: the emulator sent {len(data)} bytes as a picture of "
            f"{width} × {height} pixels of kind {kind}; take it again"
        )
    return np.frombuffer(data, np.uint8).reshape(height, width, depth)[:, :, :3].copy()


Field = int | memoryview
FIXED = {1: 8, 5: 4}  # number of bytes by wire type, for fields that we skip
NUMBER, PIECE = 0, 2


def _number(fields: dict[int, Field], field: int) -> int:
    value = fields.get(field, 0)  # an absent field is zero
    if not isinstance(value, int):
        raise ValueError(f"field {field} is no number")
    return value


def _piece(fields: dict[int, Field], field: int) -> memoryview:
    value = fields.get(field, memoryview(b""))
    if isinstance(value, int):
        raise ValueError(f"field {field} is a number")
    return value


def _fields(message: memoryview) -> Iterator[tuple[int, Field]]:
    place = 0
    while place < len(message):
        key, place = _read_number(message, place)
        kind = key & 7
        if kind == NUMBER:
            value, place = _read_number(message, place)
            yield key >> 3, value
            continue
        if kind == PIECE:
            size, place = _read_number(message, place)
        elif kind in FIXED:
            size = FIXED[kind]
        else:
            raise ValueError(f"a field of kind {kind}")
        if place + size > len(message):
            raise ValueError(f"it ends {place + size - len(message)} bytes too early")
        yield key >> 3, message[place : place + size]
        place += size


def _read_number(message: memoryview, place: int) -> tuple[int, int]:
    """Read a varint: seven bits per byte, lowest first; the eighth says that more follow."""
    value = 0
    for count, byte in enumerate(message[place : place + 10]):
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return value, place + count + 1
    raise ValueError("a number without an end")


# Where the service is ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EmulatorAdvertisement:
    """Port and token of the gRPC service of one emulator."""

    grpc_port: int
    token: str = field(default="", repr=False)  # empty: the service needs no token


def advertisement_of(console: int) -> EmulatorAdvertisement | None:
    """Return the newest advertisement for this console port; None if there is none with gRPC."""
    found: dict[float, EmulatorAdvertisement] = {}  # by modification time
    for root in dict.fromkeys(_roots()):
        for path in (root / "avd" / "running").glob("pid_*.ini"):
            try:
                written, text = path.stat().st_mtime, path.read_text("utf-8", "replace")
            except OSError:  # its emulator has just ended, or belongs to another user
                continue
            pairs = (line.partition("=") for line in text.splitlines())
            said = {key.strip(): value.strip() for key, _, value in pairs}
            port = said.get("grpc.port", "")
            if said.get("port.serial") == str(console) and port.isdecimal():
                found[written] = EmulatorAdvertisement(int(port), said.get("grpc.token", ""))
    return found[max(found)] if found else None


def _roots() -> Iterator[Path]:
    """Yield the folders where emulators advertise: the runtime directory on Linux, the one below
    Library on a Mac, and the SDK's own folders otherwise.
    """
    if os.environ.get("XDG_RUNTIME_DIR"):
        yield Path(os.environ["XDG_RUNTIME_DIR"])
    yield Path(f"/run/user/{os.getuid()}")
    yield Path.home() / "Library" / "Caches" / "TemporaryItems"
    if os.environ.get("ANDROID_EMULATOR_HOME"):
        yield Path(os.environ["ANDROID_EMULATOR_HOME"])
    for name in ("ANDROID_PREFS_ROOT", "ANDROID_SDK_HOME"):
        if os.environ.get(name):
            yield Path(os.environ[name]) / ".android"
    yield Path.home() / ".android"
