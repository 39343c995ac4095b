"""Text and control commands: echo, grep, head, tail, wc, sleep, true and false."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from phonesim.adb_daemon.commands.line_pattern import LinePattern
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.result import NOTHING, Command, Refusal, Result, lines

MAX_SLEEP = 3600.0  # seconds
ESCAPES = {r"\n": "\n", r"\t": "\t", r"\\": "\\"}


def echo(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    rest, end, escapes = list(words), "\n", False
    while rest and rest[0] in ("-n", "-e", "-ne", "-en", "-E"):
        option = rest.pop(0)
        end = "" if "n" in option else end
        escapes = escapes or "e" in option
    said = " ".join(rest)
    if escapes:
        said = re.sub(r"\\[nt\\]", lambda found: ESCAPES[found[0]], said)
    return Result((said + end).encode("utf-8", "replace"))


def sleep(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    seconds = number(words[0].removesuffix("s")) if words else math.nan
    if not 0.0 <= seconds <= MAX_SLEEP:
        raise Refusal(f"sleep: {' '.join(words)!r}: wants 0 to {MAX_SLEEP:g} seconds")
    return Result(seconds=seconds)


def number(text: str) -> float:
    """A plain decimal number; NaN for anything else."""
    return float(text) if re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,9})?", text) else math.nan


def grep(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    """Print the lines of its input, or of files, that match."""
    options, rest = set[str](), list(words)
    while rest and re.fullmatch(r"-[EFivcqonw]+|-e", rest[0]):
        options |= set(rest.pop(0)[1:])
    if not rest:
        raise Refusal("grep: bad pattern", 2)
    pattern, *paths = rest
    data = b"".join(handset.files.read(path) for path in paths) if paths else given
    wanted = LinePattern(
        pattern, fixed="F" in options, extended="E" in options, any_case="i" in options
    )
    rows = data.decode("utf-8", "replace").splitlines()
    found = [row for row in rows if wanted.matches(row) != ("v" in options)]
    code = 0 if found else 1
    if "q" in options:
        return Result(code=code)
    said = lines(str(len(found))) if "c" in options else lines(*found)
    return Result(said.out, code=code)


def head(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    rows, data = _rows(handset, words, given)
    return Result(b"".join(data[:rows]))


def tail(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    rows, data = _rows(handset, words, given)
    return Result(b"".join(data[-rows:] if rows else []))


def _rows(handset: Handset, words: Sequence[str], given: bytes) -> tuple[int, list[bytes]]:
    rows, rest = 10, list(words)
    if rest and (found := re.fullmatch(r"-n?([0-9]{1,9})?", rest[0])):
        rest.pop(0)
        digits = found[1] or (rest.pop(0) if rest else "")
        if not re.fullmatch(r"[0-9]{1,9}", digits):
            raise Refusal(f"bad number of lines {digits!r}")
        rows = int(digits)
    data = b"".join(handset.files.read(path) for path in rest) if rest else given
    return rows, data.splitlines(keepends=True)


def wc(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    paths = [word for word in words if not word.startswith("-")]
    data = b"".join(handset.files.read(path) for path in paths) if paths else given
    counts = {"-l": data.count(b"\n"), "-w": len(data.split()), "-c": len(data)}
    chosen = [str(counts[word]) for word in words if word in counts]
    return lines(" ".join(chosen or map(str, counts.values())))


def true(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    return NOTHING


def false(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    return Result(code=1)


COMMANDS: dict[str, Command] = {
    "echo": echo,
    "sleep": sleep,
    "grep": grep,
    "head": head,
    "tail": tail,
    "wc": wc,
    "true": true,
    "false": false,
}
