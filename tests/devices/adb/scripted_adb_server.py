"""A socket that plays an adb server badly: refusals, half answers, silence. For fault tests only.

Each test hands it what to say to which service; a `shell,v2,raw:` without a command can be a real
`/bin/sh`, so that the open shell is tested against a shell and not against our idea of one.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from distrl.devices.adb.adb import AdbServer

Act = Callable[[socket.socket], None]
Script = dict[str, bytes | Act]  # a service's beginning -> what is answered, or who answers


def okay(text: str = "") -> bytes:
    return b"OKAY" + (b"%04x" % len(text.encode()) + text.encode() if text else b"")


def fail(reason: str) -> bytes:
    return b"FAIL" + b"%04x" % len(reason) + reason.encode()


def packet(kind: int, data: bytes) -> bytes:
    return struct.pack("<BI", kind, len(data)) + data


def shell_answer(output: bytes, code: int = 0) -> bytes:
    return b"OKAY" + packet(1, output) + packet(3, bytes([code]))


def silence(connection: socket.socket) -> None:
    """Take the request, say OKAY, and never anything more."""
    connection.sendall(b"OKAY")
    while connection.recv(4096):
        pass


def real_shell(connection: socket.socket) -> None:
    """`sh` behind packets of shell v2."""
    connection.sendall(b"OKAY")
    reading, writing = os.pipe()
    process = subprocess.Popen(
        ["/bin/sh"],
        stdin=subprocess.PIPE,
        stdout=writing,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # what it runs ends with it
    )
    os.close(writing)
    assert process.stdin is not None

    def forward() -> None:
        while piece := os.read(reading, 4096):
            connection.sendall(packet(1, piece))
        try:
            connection.sendall(packet(3, bytes([process.wait() & 0xFF])))
        except OSError:
            return  # nobody is there to hear of the end

    thread = threading.Thread(target=forward)
    thread.start()
    try:
        while head := _exactly(connection, 5):
            kind, size = struct.unpack("<BI", head)
            data = _exactly(connection, size)
            if kind == 0:
                process.stdin.write(data)
                process.stdin.flush()
    except OSError:
        pass
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.stdin.close()
        thread.join()
        os.close(reading)


@contextmanager
def scripted_server(script: Script) -> Iterator[AdbServer]:
    """An `AdbServer` that is answered from the script; what it does not have is refused."""
    listener = socket.create_server(("127.0.0.1", 0))
    open_connections: list[socket.socket] = []

    def converse(connection: socket.socket) -> None:
        with connection:
            try:
                while size := _exactly(connection, 4):
                    service = _exactly(connection, int(size, 16)).decode()
                    answer = next(
                        (said for begin, said in script.items() if service.startswith(begin)),
                        fail(f"unknown service {service}"),
                    )
                    if callable(answer):
                        answer(connection)
                        return
                    connection.sendall(answer)
                    if not service.startswith("host:transport:"):
                        return
            except OSError:
                return

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            open_connections.append(connection)
            threading.Thread(target=converse, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield AdbServer(listener.getsockname()[1])
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for connection in open_connections:
            connection.close()


def _exactly(connection: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count:
        piece = connection.recv(count - len(received))
        if not piece:
            return b""
        received += piece
    return received
