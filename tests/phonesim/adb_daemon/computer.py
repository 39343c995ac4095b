"""A computer that speaks adb's wire protocol to a served phone, without the real adb between."""

from __future__ import annotations

import socket
import struct
import time
from types import TracebackType
from typing import Self

from phonesim.adb_daemon import messages as wire
from phonesim.adb_daemon.messages import Message, MessageReader
from phonesim.adb_daemon.phone_server import PhonePort

PATIENCE = 60.0  # seconds until a test gives up; what answers does so much sooner


class Computer:
    """One connection. What it reads has to come before its patience ends."""

    def __init__(
        self, port: int, version: int = wire.VERSION, most: int = wire.MAX_PAYLOAD
    ) -> None:
        self.line = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.reader = MessageReader(self.line, PATIENCE)
        self.version = version
        self.most = most

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.line.close()

    def send(self, command: int, first: int, second: int, payload: bytes = b"") -> None:
        self.line.sendall(Message(command, first, second, payload).encode())

    def next(self, seconds: float = PATIENCE) -> Message:
        message = self.reader.next(time.monotonic() + seconds)
        assert message is not None, "nothing came"
        return message

    def hello(self) -> Message:
        self.send(wire.CONNECT, self.version, self.most, b"host::features=shell_v2")
        return self.next()

    def open(self, service: str, number: int = 1) -> Message:
        self.send(wire.OPEN, number, 0, service.encode() + b"\x00")
        return self.next()

    def run(self, service: str, number: int = 1) -> bytes:
        """What a service sends until it closes."""
        opened = self.open(service, number)
        assert opened.command == wire.READY, "refused"
        collected = b""
        while (message := self.next()).command == wire.WRITE:
            collected += message.payload
            self.send(wire.READY, number, message.first)
        assert message.command == wire.CLOSE
        return collected

    def until_hung_up(self) -> bytes:
        """What the phone still says before it ends this connection."""
        self.line.settimeout(PATIENCE)
        said = b""
        try:
            while data := self.line.recv(65536):
                said += data
        except ConnectionError:
            pass
        return said


def wait_until_disconnected(phone: PhonePort) -> None:
    """A connection ends with its computer, soon after."""
    deadline = time.monotonic() + PATIENCE
    while phone.connected:
        assert time.monotonic() < deadline, "a connection outlived its computer"
        time.sleep(0.005)


def packets(data: bytes) -> dict[int, bytes]:
    """Packets of the second shell protocol, put together by kind."""
    found: dict[int, bytes] = {}
    while data:
        kind, size = struct.unpack_from("<BI", data)
        found[kind] = found.get(kind, b"") + data[5 : 5 + size]
        data = data[5 + size :]
    return found
