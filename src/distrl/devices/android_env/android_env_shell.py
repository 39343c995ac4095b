"""A phone's shell by way of an AndroidEnv environment and its own `AdbController`.

AndroidEnv takes a command that ends with an error for a broken connection: it kills the adb server,
under every other phone as well, and tries again. So each command is followed by one that always
goes well and writes how the first one ended. AndroidEnv's fake simulator answers every command with
the same words and without that mark; there its OK has to do.
"""

from __future__ import annotations

import secrets
import shlex
import subprocess
from typing import Any, Protocol

from android_env.components.errors import AndroidEnvError
from android_env.proto.adb_pb2 import AdbRequest, AdbResponse

from distrl.devices.adb.adb import PATIENCE, ShellResult
from distrl.devices.adb.phone_shell import output_of
from distrl.errors import DeviceDisconnected, DeviceError, DeviceTimeout


class AdbCaller(Protocol):
    """What an AndroidEnv environment, wrapped or not, takes commands by."""

    def execute_adb_call(self, call: Any, /) -> Any: ...


class AndroidEnvShell:
    """Implements `PhoneShell`. Each command is a process of `adb`, as AndroidEnv has it."""

    def __init__(self, serial: str, environment: AdbCaller) -> None:
        self.serial = serial
        self.environment = environment
        self._mark = f"distrl-{secrets.token_hex(8)}"

    def shell(self, command: str, seconds: float = PATIENCE) -> ShellResult:
        line = f"{command} </dev/null 2>&1; echo {self._mark} $?"
        call = AdbRequest(
            generic=AdbRequest.GenericRequest(args=["shell", line]), timeout_sec=seconds
        )
        try:
            response = self.environment.execute_adb_call(call)
        except AndroidEnvError as error:
            raise typed(self.serial, error) from error
        if response.status != AdbResponse.Status.OK:
            name = AdbResponse.Status.Name(response.status)
            raise DeviceDisconnected(
                f"device {self.serial}: AndroidEnv answers `{command[:80]}` with {name}: "
                f"{response.error_message[:300]}"
            )
        output, mark, code = bytes(response.generic.output).rpartition(f"{self._mark} ".encode())
        return ShellResult(output, b"", int(code)) if mark else ShellResult(code, b"", 0)

    def run(self, *words: str, seconds: float = PATIENCE) -> str:
        return output_of(self.shell(shlex.join(words), seconds), self.serial, words)

    def close(self) -> None:
        """There is nothing that stays open."""


def typed(serial: str, error: Exception) -> DeviceError:
    """AndroidEnv's errors as ours: what ran out of time, and what is gone."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, subprocess.TimeoutExpired):
            return DeviceTimeout(
                f"device {serial}: no answer within {cause.timeout:g} s through AndroidEnv: {error}"
            )
        cause = cause.__cause__
    return DeviceDisconnected(
        f"device {serial}: AndroidEnv has lost it: {type(error).__name__}: {error}; reset it, and "
        "see with `distrl devices` how the phone is"
    )
