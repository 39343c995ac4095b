"""A real adb server of our own: the binary that adbutils carries, a port and a home of its own.

It is ended by its process id. The server that a person may have on port 5037 is never met.
"""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from distrl.devices.adb.adb import AdbServer
from distrl.devices.adb.android_tools import find_tool
from distrl.errors import DeviceError


@dataclass
class OwnAdbServer:
    """A server that may be killed and started again on its port."""

    home: Path
    port: int
    process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def server(self) -> AdbServer:
        return AdbServer(self.port)

    @property
    def environment(self) -> dict[str, str]:
        """For programs that are to use this server and no other."""
        own = {"HOME": str(self.home), "ANDROID_ADB_SERVER_PORT": str(self.port)}
        quiet = {"ADB_MDNS": "0", "ADB_MDNS_AUTO_CONNECT": "0", "ADB_LIBUSB": "0"}
        return {**os.environ, **own, **quiet}

    def start(self) -> None:
        self.process = subprocess.Popen(
            [find_tool("adb"), "-L", f"tcp:localhost:{self.port}", "nodaemon", "server"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=self.environment,
        )
        end = time.monotonic() + 60.0
        while True:
            try:
                self.server.version(5.0)
                return
            except DeviceError:
                assert time.monotonic() < end, "the adb server did not start"
                time.sleep(0.02)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def own_adb_server() -> Iterator[OwnAdbServer]:
    with tempfile.TemporaryDirectory() as home, socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
        probe.close()
        own = OwnAdbServer(Path(home), port)
        try:
            own.start()
            yield own
        finally:
            own.kill()
