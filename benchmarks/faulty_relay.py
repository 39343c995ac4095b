"""A TCP relay between collector and learner that injects faults, for tests and benchmarks.

It forwards bytes between a port of its own and another one. `cut` resets every connection and
refuses new ones until `mend`; `drop_answers` forwards requests and discards the answers, so that
the learner has stored what its collector will send again.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from typing import Self

PIECE = 1 << 16
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close with a reset


class FaultyRelay:
    """Listens on a free loopback port. A context manager."""

    def __init__(self, port: int) -> None:
        self.target = port
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        self._broken = False
        self._mute = False
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def cut(self) -> None:
        """Reset all connections, and new ones, until `mend`."""
        with self._lock:
            self._broken = True
            broken, self._open = self._open, set()
        for each in broken:
            _reset(each)

    def mend(self) -> None:
        with self._lock:
            self._broken = self._mute = False

    def drop_answers(self) -> None:
        """Forward requests but discard all answers until `mend`."""
        self._mute = True

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                _reset(near)
                continue
            with self._lock:
                self._open |= {near, far}
                broken = self._broken
            if broken:
                self.cut()
                continue
            for ends in ((near, far, False), (far, near, True)):
                threading.Thread(target=self._forward, args=ends, daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:
        try:
            while piece := source.recv(PIECE):
                if not (answers and self._mute):
                    sink.sendall(piece)
        except OSError:
            pass
        with self._lock:
            self._open -= {source, sink}
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


def _reset(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
