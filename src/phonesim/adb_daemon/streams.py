"""One stream of a connection: a command, a file transfer, a picture. Many run side by side.

A stream runs a service: a generator that yields bytes to send, or a number of seconds to wait, or
`math.inf` to wait until the computer has sent more. The service reads its input from its `Inbox`.
The stream implements adb's flow control: one unacknowledged message in each direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator

from phonesim.adb_daemon.messages import CLOSE, READY, WRITE, Message, ProtocolBreach

Service = Generator[bytes | float, None, None]
MAX_UNREAD = 2**20  # bytes; with more than that unread, the computer has to wait


class Inbox:
    """Bytes that the computer has sent and the service has not yet read."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def __len__(self) -> int:
        return len(self._bytes)

    def put(self, data: bytes) -> None:
        if len(self._bytes) > 4 * MAX_UNREAD:
            raise ProtocolBreach("a stream that is written to without waiting for our readiness")
        self._bytes += data

    def take(self, most: int | None = None) -> bytes:
        """Remove and return the available bytes, or the first `most` of them."""
        count = len(self._bytes) if most is None else most
        data = bytes(memoryview(self._bytes)[:count])
        del self._bytes[:count]
        return data

    def exactly(self, count: int) -> Generator[float, None, bytes]:
        """Wait for `count` bytes and return them; services call it by `yield from`."""
        while len(self._bytes) < count:
            yield math.inf
        return self.take(count)


class Stream:
    """Connects a service to the messages of one adb stream."""

    def __init__(
        self, number: int, peer: int, serve: Callable[[Inbox], Service], max_payload: int
    ) -> None:
        self.number = number  # ours
        self.peer = peer  # theirs
        self.inbox = Inbox()
        self.wake_at = -math.inf  # monotonic seconds
        self.closed = False
        self._service = serve(self.inbox)
        self._max_payload = max_payload
        self._ready = True  # the computer has taken what we sent last
        self._owes_ready = False  # we have not yet told it so for what it sent last
        self._ended = False
        self._pending = bytearray()

    @property
    def due(self) -> float:
        """When the service continues by itself; infinite while it waits for the computer."""
        return self.wake_at if self._ready and self.wake_at > -math.inf else math.inf

    def acknowledged(self) -> None:
        self._ready = True

    def received(self, data: bytes) -> None:
        self.inbox.put(data)
        self._owes_ready = True
        if self.wake_at == math.inf:
            self.wake_at = -math.inf

    def advance(self, now: float) -> Iterator[Message]:
        """Run the service as far as it can go now, and yield the messages to send."""
        while self._ready and not self.closed:
            self._fill(now)
            if self._pending:
                count = min(len(self._pending), self._max_payload)
                payload = bytes(memoryview(self._pending)[:count])
                del self._pending[:count]
                self._ready = False
                yield Message(WRITE, self.number, self.peer, payload)
            elif not self._ended:
                break  # asleep, or waiting for more
            if self._ended and not self._pending:
                # The computer keeps what it has when it hears of the end, so nobody needs to wait
                # for its answer to the last message: that saves a round trip for each command.
                self.closed = True
                yield Message(CLOSE, self.number, self.peer)
        if self._owes_ready and len(self.inbox) < MAX_UNREAD and not self.closed:
            self._owes_ready = False
            yield Message(READY, self.number, self.peer)

    def _fill(self, now: float) -> None:
        while not self._ended and len(self._pending) < self._max_payload and now >= self.wake_at:
            piece = next(self._service, None)
            if piece is None:
                self._ended = True
            elif isinstance(piece, bytes):
                self._pending += piece
            else:
                self.wake_at = math.inf if piece == math.inf else now + piece

    def close(self) -> None:
        """Stop the service, after the computer has closed the stream."""
        self.closed = True
        self._service.close()
