"""A client for the adb server's own protocol, so that no command needs an `adb` process.

`AdbServer` lists the devices; `AdbLink` is one device: it runs commands, transfers files and
opens services such as the framebuffer. Every call has a deadline and raises a typed `DeviceError`.
In adb's protocol a connection serves one service, so each call opens a new one (on loopback: a
fraction of a millisecond), except for shell commands, for which `AdbShell` keeps one open. Links to
many devices may be used at the same time, with one thread per link.
"""

from __future__ import annotations

import re
import shlex
import struct
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import PurePosixPath

from distrl.devices.adb.adb_socket import AdbSocket, Deadline
from distrl.errors import CommandRefused, DeviceDisconnected, DeviceTimeout

ADB_PORT = 5037
PATIENCE = 15.0  # default deadline of a call, in seconds
RECONNECT_SECONDS = 1.5  # deadline for a new connection to be usable, before the next attempt
STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN = range(5)  # packet kinds of the shell v2 protocol
SYNC_PIECE = 64 * 1024  # bytes; adb accepts no larger DATA packet


@dataclass(frozen=True, slots=True)
class ListedDevice:
    """A line of `adb devices -l`. Only devices in the state `device` can be used."""

    serial: str
    state: str  # device, offline, unauthorized, authorizing, recovery, …
    model: str = ""

    @property
    def usable(self) -> bool:
        return self.state == "device"


@dataclass(frozen=True, slots=True)
class ShellResult:
    """The output, the errors and the exit code of a command."""

    output: bytes
    errors: bytes
    code: int

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "replace")

    def checked_text(self, serial: str, arguments: Sequence[str]) -> str:
        """Return the output; raise `CommandRefused` if the exit code is not zero."""
        if self.code == 0:
            return self.text
        shown = (self.errors or self.output).decode("utf-8", "replace").strip()
        raise CommandRefused(
            f"device {serial}: `{shlex.join(arguments)[:80]}` ended with code {self.code}: "
            f"{shown[:300]}"
        )


class AdbServer:
    """The adb server on this host, or one reached through a tunnel."""

    def __init__(self, port: int = ADB_PORT, host: str = "127.0.0.1") -> None:
        self.host = host
        self.port = port

    def open(self, who: str, seconds: float) -> AdbSocket:
        return AdbSocket.open(self.host, self.port, who, Deadline(seconds))

    def version(self, seconds: float = PATIENCE) -> int:
        said = self._ask("host:version", seconds)
        try:
            return int(said, 16)
        except ValueError as error:
            raise DeviceDisconnected(
                f"adb server on port {self.port}: its version is {said[:20]!r}; is what listens "
                "there an adb server?"
            ) from error

    def devices(self, seconds: float = PATIENCE) -> tuple[ListedDevice, ...]:
        return tuple(read_devices(self._ask("host:devices-l", seconds)))

    def connect(self, address: str, seconds: float = PATIENCE) -> None:
        """Connect to a phone over the network. The server reports a failure as text with OKAY."""
        said = self._ask(f"host:connect:{address}", seconds)
        if not said.startswith(("connected to", "already connected")):
            raise DeviceDisconnected(
                f"device {address}: adb connect says: {said}; see that the phone's debugging over "
                "the network is on and the address is right"
            )

    def disconnect(self, address: str, seconds: float = PATIENCE) -> None:
        """Disconnect a phone on the network; do nothing if the server does not know it."""
        try:
            self._ask(f"host:disconnect:{address}", seconds)
        except CommandRefused:
            return

    def link(self, serial: str) -> AdbLink:
        return AdbLink(self, serial)

    def _ask(self, service: str, seconds: float) -> str:
        with self.open(f"adb server on port {self.port}", seconds) as connection:
            connection.request(service)
            return connection.read_block().decode("utf-8", "replace")


class AdbLink:
    """One device behind the server."""

    def __init__(self, server: AdbServer, serial: str) -> None:
        self.server = server
        self.serial = serial

    # The device as the server sees it ----------------------------------------------------------

    def state(self, seconds: float = PATIENCE) -> str:
        """Return the device's state, `device` if it can be used; raise if adb does not list it."""
        with self.server.open(self._who, seconds) as connection:
            connection.request(f"host-serial:{self.serial}:get-state")
            return connection.read_block().decode("utf-8", "replace")

    def wait_until_usable(self, seconds: float) -> None:
        """Block, without polling, until the server reports the device as usable."""
        with self.server.open(self._who, seconds) as connection:
            connection.request(f"host-serial:{self.serial}:wait-for-any-device")
            if connection.read_exactly(4) == b"FAIL":
                reason = connection.read_block().decode("utf-8", "replace")
                raise DeviceDisconnected(f"{self._who}: waiting for it ended with: {reason}")

    def connect_again(self, seconds: float) -> None:
        """Reconnect a lost or offline device, as far as the host side can."""
        host, colon, port = self.serial.rpartition(":")
        if not (colon and host and port.isdigit()):
            self.wait_until_usable(seconds)
            return
        deadline = Deadline(seconds)
        while True:
            self.server.disconnect(self.serial, seconds)
            self.server.connect(self.serial, seconds)
            try:
                self.wait_until_usable(min(deadline.left, RECONNECT_SECONDS))
                return
            except DeviceTimeout:  # adb may drop the new connection together with the broken one
                if deadline.passed:
                    raise

    # Commands ----------------------------------------------------------------------------------

    def open(self, service: str, seconds: float) -> AdbSocket:
        """Open a service of the device; the returned connection carries that service's stream."""
        with ExitStack() as undo:
            connection = undo.enter_context(self.server.open(self._who, seconds))
            connection.request(f"host:transport:{self.serial}")
            connection.request(service)
            undo.pop_all()  # keep the connection open
        return connection

    def shell(self, command: str, seconds: float = PATIENCE) -> ShellResult:
        """Run a command without a terminal; return output and errors separately."""
        with self.open(f"shell,v2,raw:{command}", seconds) as connection:
            return read_shell(connection)

    def run(self, *arguments: str, seconds: float = PATIENCE) -> str:
        """Run a command given as separate arguments; raise if it fails."""
        return self.shell(shlex.join(arguments), seconds).checked_text(self.serial, arguments)

    def properties(self, seconds: float = PATIENCE) -> dict[str, str]:
        return read_properties(self.run("getprop", seconds=seconds))

    # Files -------------------------------------------------------------------------------------

    def push(self, data: bytes, path: str, mode: int = 0o644, seconds: float = 60.0) -> None:
        with self.open("sync:", seconds) as connection:
            connection.send(_sync(b"SEND", f"{PurePosixPath(path)},{0o100000 | mode}".encode()))
            for start in range(0, len(data), SYNC_PIECE):
                connection.send(_sync(b"DATA", data[start : start + SYNC_PIECE]))
            connection.send(b"DONE" + struct.pack("<I", 0))
            kind, size = _sync_head(connection)
            if kind != b"OKAY":
                self._sync_failed("push", path, kind, connection.read_exactly(size))

    def pull(self, path: str, seconds: float = 60.0) -> bytes:
        pieces: list[bytes] = []
        with self.open("sync:", seconds) as connection:
            connection.send(_sync(b"RECV", path.encode()))
            while True:
                kind, size = _sync_head(connection)
                if kind == b"DONE":
                    return b"".join(pieces)
                piece = connection.read_exactly(size)
                if kind != b"DATA":
                    self._sync_failed("pull", path, kind, piece)
                pieces.append(piece)

    def _sync_failed(self, doing: str, path: str, kind: bytes, said: bytes) -> None:
        raise CommandRefused(
            f"{self._who}: {doing} {path}: {kind.decode('ascii', 'replace')} "
            f"{said.decode('utf-8', 'replace')}; see that the folder exists and may be used"
        )

    @property
    def _who(self) -> str:
        return f"device {self.serial}"


# What adb writes ---------------------------------------------------------------------------------


def read_devices(listing: str) -> Iterable[ListedDevice]:
    """Parse `adb devices -l`. Neither a serial nor a state contains spaces."""
    for line in listing.splitlines():
        serial, _, rest = line.partition(" " if " " in line else "\t")
        fields = rest.split()
        if serial and fields:
            model = next((f.removeprefix("model:") for f in fields if f.startswith("model:")), "")
            yield ListedDevice(serial.strip(), fields[0].strip(), model.replace("_", " "))


def read_packet(connection: AdbSocket) -> tuple[int, bytes]:
    """Read one packet of shell v2: its kind and its data."""
    kind, size = struct.unpack("<BI", connection.read_exactly(5))
    return kind, connection.read_exactly(size)


def read_shell(connection: AdbSocket) -> ShellResult:
    """Read shell-v2 packets up to the one with the exit code."""
    written: dict[int, list[bytes]] = {STDOUT: [], STDERR: []}
    while True:
        kind, data = read_packet(connection)
        if kind == EXIT:
            code = data[0] if data else 1
            return ShellResult(b"".join(written[STDOUT]), b"".join(written[STDERR]), code)
        if kind in written:
            written[kind].append(data)


def read_properties(text: str) -> dict[str, str]:
    """Parse the output of `getprop`, lines of the form [name]: [value]."""
    return dict(re.findall(r"^\[(.*?)\]: \[(.*?)\]?\r?$", text, re.MULTILINE))


def _sync(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data


def _sync_head(connection: AdbSocket) -> tuple[bytes, int]:
    kind, size = struct.unpack("<4sI", connection.read_exactly(8))
    return kind, size
