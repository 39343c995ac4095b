"""Messages over a socket: each arrives whole or not at all, in the order in which it was sent.

A frame is its length (4 bytes, little-endian) and its bytes. `send` may be called from any thread.
`receive` waits for the next frame; `receive_all` takes what has arrived and never waits, so that a
process which stops in the middle of a message holds up nobody who listens to others as well. Both
raise `EOFError` once the other side has gone.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections import deque

LENGTH = struct.Struct("<I")
PIECE = 1 << 20  # bytes that are taken off the socket at once
LONGEST = 1 << 28  # bytes of a frame; what claims to be longer is no frame of ours


class FramedSocket:
    """One end of a connection. `send_seconds`: how long the other side may take nothing."""

    def __init__(self, connection: socket.socket, send_seconds: float | None = None) -> None:
        self._socket = connection
        self._socket.settimeout(send_seconds)
        self._sending = threading.Lock()
        self._buffer = bytearray()
        self._frames: deque[bytes] = deque()

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, frame: bytes) -> None:
        """Raises `EOFError` where the other side is gone, or takes nothing any more."""
        try:
            with self._sending:
                self._socket.sendall(LENGTH.pack(len(frame)) + frame)
        except OSError as error:
            raise EOFError(f"the other side takes no more: {error}") from error

    def receive(self) -> bytes:
        """The next frame, waited for."""
        while not self._frames:
            self._read()
        return self._frames.popleft()

    def receive_all(self) -> list[bytes]:
        """Frames that are whole by now. Ask when there is something to read."""
        self._read()
        frames = list(self._frames)
        self._frames.clear()
        return frames

    def _read(self) -> None:
        try:
            piece = self._socket.recv(PIECE)
        except OSError as error:
            raise EOFError(f"the connection broke: {error}") from error
        if not piece:
            raise EOFError("the other side has closed the connection")
        self._buffer += piece
        self._cut()

    def _cut(self) -> None:
        """Whole frames off the buffer."""
        start = 0
        while len(self._buffer) - start >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._buffer, start)
            if length > LONGEST:
                raise EOFError(f"a frame of {length} bytes; these bytes are not ours")
            end = start + LENGTH.size + length
            if len(self._buffer) < end:
                break
            self._frames.append(bytes(self._buffer[start + LENGTH.size : end]))
            start = end
        del self._buffer[:start]

    def close(self) -> None:
        self._socket.close()
