"""Runs a line in a served phone's shell, without any connection."""

from __future__ import annotations

from dataclasses import dataclass

from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.shell import Shell


@dataclass(frozen=True)
class Said:
    """What a line came to."""

    out: bytes
    error: str
    code: int
    seconds: float

    @property
    def text(self) -> str:
        return self.out.decode()


def run(handset: Handset, line: str) -> Said:
    shell = Shell(handset)
    results = list(shell.run(line))
    return Said(
        b"".join(result.out for result in results),
        b"".join(result.error for result in results).decode(),
        shell.code,
        sum(result.seconds for result in results),
    )
