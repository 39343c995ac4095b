"""What the shell of a phone can do, whoever carries its commands there.

Everything that reads and operates Android by commands (`android_state`, `fresh_start`,
`unicode_typing`, `uiautomator`, `app_launching`) asks for no more than this. `AdbShell` carries
them over our own connection, `AndroidEnvShell` through DeepMind's AndroidEnv.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Protocol

from distrl.devices.adb.adb import PATIENCE, ShellResult
from distrl.errors import CommandRefused


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
