"""A shell on the phone that stays open: one connection for many commands.

A fresh shell costs a connection, a round trip to the phone and a process there each time; this one
reads its commands from a pipe. The end of each is found by a mark that nobody else knows. Commands
are simple ones, without pipes and line breaks; their errors come with their output. One that breaks
the connection is never sent twice: a tap that may have happened must not happen again. Phones that
keep no such shell get a fresh one each time.
"""

from __future__ import annotations

import secrets
import shlex
import struct
from collections.abc import Sequence
from typing import Protocol

from distrl.devices.adb.adb import PATIENCE, STDERR, STDIN, STDOUT, AdbLink, ShellResult
from distrl.devices.adb.adb_socket import AdbSocket, Deadline
from distrl.errors import CommandRefused, DeviceDisconnected, DeviceError


class PhoneShell(Protocol):
    """Commands for one phone. One thread uses it at a time."""

    @property
    def serial(self) -> str:
        """What messages call the phone."""
        ...

    def shell(self, command: str, seconds: float = PATIENCE) -> ShellResult:
        """Run a command line; how it ended is in the result."""
        ...

    def run(self, *words: str, seconds: float = PATIENCE) -> str:
        """Run a command of separate words and return its output; a failure is raised."""
        ...

    def close(self) -> None: ...


def output_of(result: ShellResult, serial: str, words: Sequence[str]) -> str:
    """What it wrote, if it went well."""
    if result.code != 0:
        said = (result.errors or result.output).decode("utf-8", "replace").strip()
        raise CommandRefused(
            f"device {serial}: `{shlex.join(words)[:80]}` ended with code "
            f"{result.code}: {said[:300]}"
        )
    return result.text


PROBE_SECONDS = 3.0


class AdbShell:
    """Implements `PhoneShell` over our own connection."""

    def __init__(self, link: AdbLink, *, keep_open: bool = True) -> None:
        self.link = link
        self.keeps_open = keep_open  # turns False when the phone cannot
        self._mark = ""
        self._connection: AdbSocket | None = None

    @property
    def serial(self) -> str:
        return self.link.serial

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

    def run(self, *words: str, seconds: float = PATIENCE) -> str:
        return output_of(self.shell(shlex.join(words), seconds), self.serial, words)

    def _open(self) -> None:
        """Open the shell and try it once; a phone that does not play along is remembered."""
        self._mark = f"distrl-{secrets.token_hex(8)}"
        try:
            self._connection = self.link.open("shell,v2,raw:", PROBE_SECONDS)
            if self._converse(self._connection, "true", PROBE_SECONDS).code == 0:
                return
        except DeviceError:
            self.link.state()  # a device that is gone says so here, in its own words
        self.keeps_open = False
        self.close()

    def _converse(self, connection: AdbSocket, command: str, seconds: float) -> ShellResult:
        connection.deadline = Deadline(seconds)
        # A command may not read what is meant for the shell, so its own input is empty.
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
            kind, size = struct.unpack("<BI", connection.read_exactly(5))
            data = connection.read_exactly(size)
            if kind not in (STDOUT, STDERR):
                raise DeviceDisconnected(
                    f"device {self.link.serial}: the shell on the phone ended; did it restart?"
                )
            written += data
            at = written.rfind(mark) if written.endswith(b"\n") else -1
            if at >= 0:
                return ShellResult(bytes(written[:at]), b"", int(written[at + len(mark) :]))
