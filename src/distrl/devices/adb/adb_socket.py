"""One connection to the adb server; reads and writes have a deadline, replies a size limit.

A request is its length in four hexadecimal digits and a service's name; the answer is OKAY, or FAIL
with a reason. After a "transport" request the connection is forwarded to a device: the next request
names a service of the device, and the rest of the stream belongs to that service.

Failures reported by the server or the phone become typed `DeviceError`s here, so that callers never
parse adb's messages. Closing is immediate.
"""

from __future__ import annotations

import re
import socket
import time
from typing import Self

from distrl.errors import (
    AdbServerGone,
    CommandRefused,
    DeviceDisconnected,
    DeviceError,
    DeviceTimeout,
    DeviceUnauthorized,
)

MAX_REPLY = 1 << 27  # bytes per request: four times the raw picture of the largest phone
PIECE = 1 << 18


class Deadline:
    """A point in time on the monotonic clock."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return self._end - time.monotonic()

    @property
    def passed(self) -> bool:
        return self.left <= 0.0


class AdbSocket:
    """One connection, as a context manager. `who` is the device's name in error messages."""

    def __init__(self, connection: socket.socket, who: str, deadline: Deadline) -> None:
        self._connection = connection
        self.who = who
        self.begin(deadline)

    @classmethod
    def open(cls, host: str, port: int, who: str, deadline: Deadline) -> AdbSocket:
        try:
            connection = socket.create_connection((host, port), max(deadline.left, 0.001))
        except OSError as error:
            raise AdbServerGone(
                f"{who}: no adb server answers on {host}:{port} ({error.strerror or error}); "
                f"start it with `adb -P {port} start-server`"
            ) from error
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # small requests: no delay
        return cls(connection, who, deadline)

    def begin(self, deadline: Deadline) -> None:
        """Start an exchange with a new deadline and a new byte limit."""
        self.deadline = deadline
        self._received = 0

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # Requests ----------------------------------------------------------------------------------

    def request(self, service: str) -> None:
        """Request a service; raise the matching error for any answer but OKAY."""
        name = service.encode()
        self.send(b"%04x" % len(name) + name)
        status = self.read_exactly(4)
        if status == b"FAIL":
            raise refusal(self.who, _short(service), self.read_block().decode("utf-8", "replace"))
        if status != b"OKAY":
            raise DeviceDisconnected(
                f"{self.who}: {_short(service)} was answered with {status!r} instead of OKAY; "
                "is what listens on the adb server's port an adb server?"
            )

    def read_block(self) -> bytes:
        """Read a length in four hexadecimal digits, then that many bytes."""
        digits = self.read_exactly(4)
        if not re.fullmatch(rb"[0-9a-fA-F]{4}", digits):
            raise DeviceDisconnected(
                f"{self.who}: the adb server announced {digits!r} bytes; it is out of step"
            )
        return self.read_exactly(int(digits, 16))

    # Bytes -------------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        self._arm("sending")
        try:
            self._connection.sendall(data)
        except TimeoutError as error:
            raise self._too_late("took no more bytes") from error
        except OSError as error:
            raise self._gone(error) from error

    def read_exactly(self, count: int) -> bytes:
        pieces, missing = [], count
        while missing:
            piece = self._receive(min(missing, PIECE))
            if not piece:
                raise DeviceDisconnected(
                    f"{self.who}: the connection ended after {count - missing} of {count} bytes; "
                    "see that the phone is plugged in and the adb server runs"
                )
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def _receive(self, most: int) -> bytes:
        self._arm("reading")
        try:
            piece = self._connection.recv(most)
        except TimeoutError as error:
            raise self._too_late("sent nothing more") from error
        except OSError as error:
            raise self._gone(error) from error
        self._received += len(piece)
        if self._received > MAX_REPLY:
            raise DeviceDisconnected(
                f"{self.who}: it sent more than {MAX_REPLY:,} bytes in answer to one request; is "
                "that a phone?"
            )
        return piece

    def _arm(self, doing: str) -> None:
        left = self.deadline.left
        if left <= 0.0:
            raise self._too_late(f"was not done {doing}")
        self._connection.settimeout(left)

    def _too_late(self, what: str) -> DeviceTimeout:
        return DeviceTimeout(
            f"{self.who}: it {what} within {self.deadline.seconds:g} s; "
            "the phone hangs, or the deadline is too short for it"
        )

    def _gone(self, error: OSError) -> DeviceDisconnected:
        return DeviceDisconnected(
            f"{self.who}: the connection to the adb server broke ({error.strerror or error}); "
            "see that the server runs and the phone is plugged in"
        )


def refusal(who: str, service: str, reason: str) -> DeviceError:
    """Return the error that matches the reason of a FAIL."""
    said = f"{who}: adb answered {service} with: {' '.join(reason.split())}"
    lowered = reason.lower()
    if "unauthorized" in lowered or "still authorizing" in lowered or "no permissions" in lowered:
        return DeviceUnauthorized(
            f"{said}; unlock the phone and allow USB debugging from this computer"
        )
    if any(word in lowered for word in ("not found", "offline", "no devices", "closed")):
        return DeviceDisconnected(f"{said}; plug the phone in, or `adb connect` it again")
    return CommandRefused(f"{said}; the phone or the server does not offer this")


def _short(service: str) -> str:
    """Shorten a command, which may be long and contain typed text."""
    name, colon, rest = service.partition(":")
    return f"{name}{colon}{rest[:40]}{'…' if len(rest) > 40 else ''}"
