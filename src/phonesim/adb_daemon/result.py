"""What a shell command comes to: what it wrote, its exit code, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from phonesim.adb_daemon.handset import Handset


@dataclass(frozen=True, slots=True)
class Result:
    """`seconds` pass before what follows in the line is run; infinite ones never end."""

    out: bytes = b""
    error: bytes = b""
    code: int = 0
    seconds: float = 0.0


# What a command is given: the phone, the words after its name, and what is piped into it.
Command = Callable[[Handset, Sequence[str], bytes], Result]


class Refusal(Exception):
    """A command says no: the words and the exit code. The shell puts it into a `Result`."""

    def __init__(self, said: str, code: int = 1) -> None:
        super().__init__(said)
        self.said = said
        self.code = code


def lines(*texts: str) -> Result:
    """Lines of output, and all is well."""
    return Result("".join(f"{text}\n" for text in texts).encode("utf-8", "replace"))


def failure(*texts: str, code: int = 1) -> Result:
    """Lines of complaint."""
    return Result(b"", "".join(f"{text}\n" for text in texts).encode("utf-8", "replace"), code)


NOTHING = Result()
