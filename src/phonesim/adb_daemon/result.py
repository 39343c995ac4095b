"""The result of a shell command: its output, its exit code, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from phonesim.adb_daemon.handset import Handset


@dataclass(frozen=True, slots=True)
class Result:
    """A command's result. `seconds` pass before the next command of the line; inf: forever."""

    out: bytes = b""
    error: bytes = b""
    code: int = 0
    seconds: float = 0.0


# The arguments of a command: the phone, the words after its name, and its standard input.
Command = Callable[[Handset, Sequence[str], bytes], Result]


class Refusal(Exception):
    """A command fails with a message and an exit code. The shell turns it into a `Result`."""

    def __init__(self, said: str, code: int = 1) -> None:
        super().__init__(said)
        self.said = said
        self.code = code


def lines(*texts: str) -> Result:
    """Return lines of output with exit code 0."""
    return Result("".join(f"{text}\n" for text in texts).encode("utf-8", "replace"))


def failure(*texts: str, code: int = 1) -> Result:
    """Return lines of error output."""
    return Result(b"", "".join(f"{text}\n" for text in texts).encode("utf-8", "replace"), code)


NOTHING = Result()
