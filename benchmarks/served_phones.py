"""A real adb server, and phones served by another process, for benchmarks over adb.

Both have ports of their own and are ended by their process ids, so that other programs on the
machine, above all a user's own adb server, are not affected.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from distrl.devices.adb.adb import AdbServer
from distrl.devices.adb.android_tools import find_tool
from distrl.errors import DeviceError

SERVE = "from distrl.cli.main import main; main()"
PATIENCE = 30.0  # seconds until a phone must be connected


@contextmanager
def adb_server() -> Iterator[AdbServer]:
    """Run a real adb server with a port and a home folder of its own."""
    with tempfile.TemporaryDirectory() as home, socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
        probe.close()
        own = {"HOME": home, "ADB_MDNS": "0", "ANDROID_ADB_SERVER_PORT": str(port)}
        process = subprocess.Popen(
            [find_tool("adb"), "-L", f"tcp:localhost:{port}", "nodaemon", "server"],
            env={**os.environ, **own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield _answering(AdbServer(port))
        finally:
            process.kill()
            process.wait()


def _answering(server: AdbServer) -> AdbServer:
    end = time.monotonic() + 20.0
    while True:
        try:
            server.version(5.0)
            return server
        except DeviceError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


@contextmanager
def connected_phones(server: AdbServer, count: int) -> Iterator[tuple[str, ...]]:
    """Run `distrl phone serve` in a process of its own; yield its phones' connected serials."""
    command = [sys.executable, "-c", SERVE, "phone", "serve", "--phones", str(count), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline().split() for _ in range(count)]
        serials = tuple(words[-1] for words in lines if words[:2] == ["adb", "connect"])
        if len(serials) != count:
            raise RuntimeError(f"`distrl phone serve` announced {len(serials)} of {count} phones")
        for serial in serials:
            server.connect(serial)
            server.link(serial).wait_until_usable(PATIENCE)
        yield serials
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
