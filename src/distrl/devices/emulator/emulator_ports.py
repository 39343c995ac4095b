"""Reserve ports for emulators, so that no two of ours use the same ones.

An emulator takes two adjacent ports: an even one for its console and the next one for adb. A third
port, for gRPC, is 3000 above the console's: the emulator's own default. A pair is reserved by a
lock on its file, which every DistRL process of this user respects and which the operating system
releases when the process dies. It is reserved only if no process listens on any of the three ports.
"""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path

from distrl.errors import InvalidSetting
from distrl.private_folder import make_private

FIRST_PORT, LAST_PORT = 5554, 5682  # the range that the emulator accepts
GRPC_ABOVE = 3000


@dataclass(slots=True)
class PortPair:
    """Two adjacent ports and the one for gRPC, reserved until `release`."""

    console: int
    _lock: int  # a file descriptor

    @property
    def adb(self) -> int:
        return self.console + 1

    @property
    def grpc(self) -> int:
        return self.console + GRPC_ABOVE

    def release(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


class EmulatorPorts:
    """Reserves port pairs from a range; `first` and `last` are console ports."""

    def __init__(self, first: int = FIRST_PORT, last: int = LAST_PORT) -> None:
        self.first = first
        self.last = last
        if first % 2 or not FIRST_PORT <= first <= last <= LAST_PORT:
            raise InvalidSetting(
                f"emulator ports {first} to {last}; give even console ports from {FIRST_PORT} "
                f"to {LAST_PORT}, the first no higher than the last"
            )

    def reserve(self) -> PortPair:
        temporary = Path(tempfile.gettempdir())
        folder = make_private(temporary / f"distrl-emulator-ports-{os.getuid()}")
        for console in range(self.first, self.last + 1, 2):
            lock = try_lock(folder / str(console))
            if lock < 0:
                continue
            pair = PortPair(console, lock)
            if all(_is_free(port) for port in (pair.console, pair.adb, pair.grpc)):
                return pair
            pair.release()
        raise InvalidSetting(
            f"all emulator ports from {self.first} to {self.last} are taken; stop some emulators "
            "(`adb devices` lists them) or widen the range"
        )


def try_lock(path: Path) -> int:
    """Return a file descriptor that holds the lock, or -1 if another process holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return -1
    return descriptor


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # ignore TIME_WAIT
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
