"""Shell commands on a phone: `PhoneShell`, and `AdbShell`, which keeps one shell open.

All code that reads and operates Android by shell commands (`android_state`, `fresh_start`,
`unicode_typing`, `uiautomator`, `android_apps`) takes a `PhoneShell`. `AdbShell` implements it over
our adb client, `AndroidEnvShell` through DeepMind's AndroidEnv.

A new shell per command would cost a connection, a round trip and a process on the phone each time.
So `AdbShell` writes its commands to one shell's standard input and finds the end of each output by
a random marker. Commands must not contain pipes or line breaks; their stderr is merged into the
output. A command that breaks the connection is never resent: a tap that may have happened must not
happen twice. On phones without an interactive shell, each command gets a new shell.
"""

from __future__ import annotations

import re
import secrets
import shlex
import struct
from abc import ABC, abstractmethod

from distrl.devices.adb.adb import (
    PATIENCE,
    STDERR,
    STDIN,
    STDOUT,
    AdbLink,
    ShellResult,
    read_packet,
)
from distrl.devices.adb.adb_socket import AdbSocket, Deadline
from distrl.errors import DeviceDisconnected, DeviceError


class PhoneShell(ABC):
    """Runs shell commands on one phone. One thread uses it at a time."""

    serial: str  # the phone's name in error messages

    @abstractmethod
    def shell(self, command: str, seconds: float = PATIENCE) -> ShellResult:
        """Run a command line; the exit code is part of the result."""

    def run(self, *arguments: str, seconds: float = PATIENCE) -> str:
        """Run a command given as separate arguments; raise if it fails."""
        return self.shell(shlex.join(arguments), seconds).checked_text(self.serial, arguments)

    def close(self) -> None:  # noqa: B027
        """Release what stays open between two commands, if anything."""


PROBE_SECONDS = 3.0


class AdbShell(PhoneShell):
    """Implements `PhoneShell` over an adb connection."""

    def __init__(self, link: AdbLink, *, keep_open: bool = True) -> None:
        self.link = link
        self.serial = link.serial
        self.keeps_open = keep_open  # set to False if the phone does not support it
        self._mark = ""
        self._connection: AdbSocket | None = None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def shell(self, command: str, seconds: float = PATIENCE) -> ShellResult:
        """Run a command, in the open shell if there is one."""
        if self.keeps_open and self._connection is None:
            self._open()
        if self._connection is None:
            return self.link.shell(command, seconds)
        return self._converse(self._connection, command, seconds)

    def _open(self) -> None:
        """Open the shell and test it once; if the phone does not support it, never try again."""
        self._mark = f"distrl-{secrets.token_hex(8)}"
        try:
            self._connection = self.link.open("shell,v2,raw:", PROBE_SECONDS)
            if self._converse(self._connection, "true", PROBE_SECONDS).code == 0:
                return
        except DeviceError:
            self.link.state()  # raises if the device is gone
        self.keeps_open = False
        self.close()

    def _converse(self, connection: AdbSocket, command: str, seconds: float) -> ShellResult:
        connection.begin(Deadline(seconds))
        # The command's stdin is empty, so that it cannot read the commands that follow it.
        script = f"{command} </dev/null 2>&1\necho {self._mark} $?\n".encode()
        try:
            connection.send(struct.pack("<BI", STDIN, len(script)) + script)
            return self._read(connection)
        except DeviceError:
            self.close()
            raise

    def _read(self, connection: AdbSocket) -> ShellResult:
        written = bytearray()
        mark = f"{self._mark} ".encode()
        while True:
            kind, data = read_packet(connection)
            if kind not in (STDOUT, STDERR):
                raise DeviceDisconnected(
                    f"device {self.link.serial}: the shell on the phone ended; did it restart?"
                )
            written += data
            at = written.rfind(mark) if written.endswith(b"\n") else -1
            if at >= 0:
                code = exit_code(self.serial, bytes(written[at + len(mark) :]))
                return ShellResult(bytes(written[:at]), b"", code)


def exit_code(serial: str, digits: bytes) -> int:
    """Parse the exit code that the phone printed after a marker."""
    if not re.fullmatch(rb"\d{1,3}\s*", digits):
        raise DeviceDisconnected(
            f"device {serial}: its shell ended a command with code {digits[:9]!r}; is it a phone?"
        )
    return int(digits)
