"""Connections to a listener byte by byte, as no library would send."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress

LONG = 60.0  # seconds that no answer takes


@contextmanager
def raw_connection(port: int) -> Iterator[ssl.SSLSocket]:
    """Over TLS, to a port of loopback."""
    context = ssl._create_unverified_context()
    with (
        socket.create_connection(("127.0.0.1", port), LONG) as plain,
        context.wrap_socket(plain) as connection,
    ):
        yield connection


def said_until_closed(connection: ssl.SSLSocket) -> bytes:
    """All that the listener says before it closes the connection."""
    said = b""
    with suppress(ConnectionResetError):
        while piece := connection.recv(1 << 16):
            said += piece
    return said
