"""The emulator's own console on loopback: loads snapshots and ends it, line by line.

It greets, asks for a word that lies in the home directory of whoever started it, and answers each
command with lines and a last one that begins with OK or KO.
"""

from __future__ import annotations

import socket
from pathlib import Path

from distrl.devices.adb.adb_socket import Deadline
from distrl.errors import CommandRefused, DeviceDisconnected, DeviceTimeout

TOKEN_FILE = ".emulator_console_auth_token"
MAX_ANSWER = 1 << 20


def ask_console(port: int, command: str, seconds: float, home: Path | None = None) -> str:
    """The answer to one command, without its OK; KO is raised as `CommandRefused`."""
    deadline = Deadline(seconds)
    who = f"emulator console on port {port}"
    try:
        with socket.create_connection(("127.0.0.1", port), max(deadline.left, 0.001)) as line:
            greeting = _answer(line, who, deadline)
            if "Authentication required" in greeting:
                _say(line, f"auth {_token(home or Path.home())}", who, deadline)
            return _say(line, command, who, deadline)
    except TimeoutError as error:
        raise DeviceTimeout(f"{who}: no answer to {command!r} within {seconds:g} s") from error
    except OSError as error:
        raise DeviceDisconnected(
            f"{who}: {error.strerror or error}, at {command!r}; is the emulator running?"
        ) from error


def _say(line: socket.socket, command: str, who: str, deadline: Deadline) -> str:
    line.sendall(command.encode() + b"\r\n")
    return _answer(line, f"{who}, {command.split()[0]}", deadline)


def _answer(line: socket.socket, who: str, deadline: Deadline) -> str:
    received = b""
    while len(received) < MAX_ANSWER:
        line.settimeout(max(deadline.left, 0.001))
        piece = line.recv(4096)
        if not piece:
            raise DeviceDisconnected(f"{who}: it hung up after {received[-80:]!r}")
        received += piece
        lines = received.decode("utf-8", "replace").split("\r\n")
        last = lines[-2] if len(lines) > 1 and not lines[-1] else ""
        if last == "OK" or last.startswith("OK:"):
            return "\n".join(lines[:-2])
        if last.startswith("KO"):
            raise CommandRefused(f"{who}: {last.removeprefix('KO').lstrip(': ') or 'refused'}")
    raise CommandRefused(f"{who}: an answer without an end")


def _token(home: Path) -> str:
    try:
        return (home / TOKEN_FILE).read_text("ascii").strip()
    except OSError as error:
        raise CommandRefused(
            f"the emulator's console wants the word in {home / TOKEN_FILE}, which cannot be read "
            f"({error.strerror}); start the emulator as the same user"
        ) from error
