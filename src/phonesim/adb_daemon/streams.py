"""One stream of a connection: a command, a file transfer, a picture. Many run side by side.

What a stream is for is a service: a generator that yields bytes to send, or a number of seconds to
wait, or `math.inf` to wait until the computer has sent more. It reads what was sent from its
`Inbox`. The stream around it keeps adb's flow control: one unanswered message in each direction.
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
        """What is there, or a part of it."""
        count = len(self._bytes) if most is None else most
        data = bytes(memoryview(self._bytes)[:count])
        del self._bytes[:count]
        return data

    def exactly(self, count: int) -> Generator[float, None, bytes]:
        """For a service: `yield from` it to wait for so many bytes."""
        while len(self._bytes) < count:
            yield math.inf
        return self.take(count)


class Stream:
    """A service at one end, a message stream at the other."""

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
        """When the service wants to go on by itself; infinite where it waits for the computer."""
        return self.wake_at if self._ready and self.wake_at > -math.inf else math.inf

    def acknowledged(self) -> None:
        self._ready = True

    def received(self, data: bytes) -> None:
        self.inbox.put(data)
        self._owes_ready = True
        if self.wake_at == math.inf:
            self.wake_at = -math.inf

    def advance(self, now: float) -> Iterator[Message]:
        """Let the service work as far as it can now, and say what has to be sent."""
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
        """The computer has lost interest."""
        self.closed = True
        self._service.close()
