"""Messages of the Android Debug Bridge between a computer and a phone, as bytes on a socket.

A message is a header of six little-endian words (command, two arguments, the length and the sum of
its payload, and the command inverted) and a payload. Other bytes, a payload above the agreed limit,
or a message that never ends raise `ProtocolBreach`, and the connection is closed.
"""

from __future__ import annotations

import socket
import struct
import time
from dataclasses import dataclass

CONNECT, AUTHORIZE, OPEN, READY, WRITE, CLOSE = (
    int.from_bytes(name, "little")
    for name in (b"CNXN", b"AUTH", b"OPEN", b"OKAY", b"WRTE", b"CLSE")
)
TOKEN, SIGNATURE, PUBLIC_KEY = 1, 2, 3  # first argument of AUTHORIZE

VERSION = 0x01000001
VERSION_WITH_SUMS = 0x01000000  # older computers check the sum of every payload
MAX_PAYLOAD = 2**20  # bytes; what both sides of today's adb offer
HEADER = struct.Struct("<6I")


class ProtocolBreach(Exception):
    """The other side violates the adb protocol. `Connection` catches it and hangs up."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message; the meaning of its two arguments depends on the command."""

    command: int
    first: int
    second: int
    payload: bytes = b""

    def encode(self, with_sum: bool = False) -> bytes:
        total = sum(self.payload) & 0xFFFFFFFF if with_sum else 0
        inverted = self.command ^ 0xFFFFFFFF
        size = len(self.payload)
        header = HEADER.pack(self.command, self.first, self.second, size, total, inverted)
        return header + self.payload


class MessageReader:
    """Splits the bytes from a socket into messages.

    Between messages a computer may be silent for days. A message that was begun has to end within
    `patience` seconds, even if bytes keep coming slowly.
    """

    def __init__(self, line: socket.socket, patience: float) -> None:
        self._line = line
        self._patience = patience
        self._buffer = bytearray(MAX_PAYLOAD + HEADER.size + 2**16)
        self._start = 0  # of the unread bytes in the buffer
        self._end = 0
        self._begun = 0.0  # when the first byte of the message in hand came

    def next(self, wake_at: float | None = None) -> Message | None:
        """Return the next message, or None at `wake_at` (monotonic seconds) if none has come."""
        while (message := self._cut()) is None:
            until = self._begun + self._patience if self._end > self._start else wake_at
            if wake_at is not None and (until is None or wake_at < until):
                until = wake_at
            if not self._receive(until):
                if self._end > self._start and time.monotonic() >= self._begun + self._patience:
                    raise ProtocolBreach(f"a message took more than {self._patience:g} s to come")
                return None
        return message

    def _receive(self, until: float | None) -> bool:
        if len(self._buffer) - self._end < 2**16:
            self._move_to_front()
        self._line.settimeout(None if until is None else max(until - time.monotonic(), 0.0005))
        try:
            count = self._line.recv_into(memoryview(self._buffer)[self._end :])
        except TimeoutError:
            return False
        if not count:
            raise ConnectionResetError("the computer hung up")
        if self._end == self._start:
            self._begun = time.monotonic()
        self._end += count
        return True

    def _cut(self) -> Message | None:
        have = self._end - self._start
        if have < HEADER.size:
            return None
        command, first, second, size, _, inverted = HEADER.unpack_from(self._buffer, self._start)
        if command ^ inverted != 0xFFFFFFFF:
            raise ProtocolBreach(f"a header of {command:#010x} that is none of adb's")
        if size > MAX_PAYLOAD:
            raise ProtocolBreach(f"a payload of {size} bytes; {MAX_PAYLOAD} were agreed on")
        if have < HEADER.size + size:
            return None
        begin = self._start + HEADER.size
        payload = bytes(memoryview(self._buffer)[begin : begin + size])
        self._start = begin + size
        self._begun = time.monotonic()
        if self._start == self._end:
            self._start = self._end = 0
        return Message(command, first, second, payload)

    def _move_to_front(self) -> None:
        rest = self._buffer[self._start : self._end]
        self._buffer[: len(rest)] = rest
        self._start, self._end = 0, len(rest)
