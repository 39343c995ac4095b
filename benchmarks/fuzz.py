"""Feed a million broken inputs to every reader of foreign bytes (`make fuzz`); none may crash.

Judge replies, adb frames, TOML, run files, files of models, answers of containers and of models,
weights and messages (`fuzz_targets`) are mutated at random: bits flipped, slices cut, repeated or
swapped with other examples, numbers and words inserted that break parsers, and, in JSON, values
replaced by values of another type. (Atheris was weighed: it instruments CPython and has no wheels
for every platform that we support; mutation from whole examples reaches these readers without it.)
The figures:

    inputs          inputs that were read
    crashes         errors that are not DistRL's own, and readers that take more than
                    `--seconds-each` of the processor or `--megabytes` of memory
    host_commands   processes that a reader tried to start, whatever the input said

Every input follows from `--seed`, its target and its number. The first input of each kind of crash
is written to `tests/fuzz_corpus/TARGET/`, which a test of the default suite reads again.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.fuzz_target import Target, run_target
from benchmarks.fuzz_targets import targets
from benchmarks.results_file import make_command, write_results

CORPUS = Path(__file__).parents[1] / "tests" / "fuzz_corpus"
PROCESS_EVENTS = {
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork",
    "os.forkpty", "pty.spawn",
}  # fmt: skip
CHUNK = 500  # inputs of one target before the next target's turn
LONGEST = 1 << 17  # bytes of the longest input
WORDS = (
    b"null", b"NaN", b"-Infinity", b"1e999", b"-1", b"0", b"9" * 400, b"1e-400", b"true", b"\x00",
    b'"\\ud800"', b"\\u0000", b"\xff\xfe", b"\xed\xa0\x80", b"\xf0\x9f\x93\xb1", b"[" * 2000,
    b"{\"a\":" * 2000, b'"', b"'", b"\\", b"\n", b"\r\n", b"<", b"</", b"<!ENTITY x SYSTEM 'f'>",
    b"$(touch owned)", b"; reboot", b"`id`", b"../../etc/passwd", b"__import__('os').system('id')",
    b"{{7*7}}", b"%s%n", b"ffff", b"7fffffff", b"18446744073709551616", b",", b":", b"=", b"#",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 10**400, 1e308, "", "\ud800", "x" * 5000, [], {}, [[]], {"a": 1}, [None],
    ["a", 1], "NaN", 2**63, -0.0,
)  # fmt: skip

_commands: Counter[str] = Counter()


def watch_processes() -> None:
    """Count all attempts to start a process. The audit hook stays until this process ends."""
    sys.addaudithook(
        lambda event, _: _commands.update([event]) if event in PROCESS_EVENTS else None
    )


def host_commands() -> int:
    return _commands.total()


# Inputs -------------------------------------------------------------------------------------------


def mutated(examples: tuple[bytes, ...], rng: random.Random) -> bytes:
    """Return one of the examples after one to eight random mutations."""
    data = rng.choice(examples)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        if rng.random() < 0.1:
            other = rng.choice(examples)
            data = data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]
        data = rng.choice(MUTATIONS)(data, rng)[:LONGEST]
    return data


def _flip(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _cut(data: bytes, rng: random.Random) -> bytes:
    start, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:start] + data[end:] if rng.random() < 0.7 else data[:start]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    start, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:end] + data[start:end] * rng.choice((1, 2, 16)) + data[end:]


def _word(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(WORDS) + data[at + rng.choice((0, 0, 1, 4)) :]


def _noise(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.choice((1, 4, 64))) + data[at:]


def _value(data: bytes, rng: random.Random) -> bytes:
    """Replace a value in one line of JSON; insert a word if the line is no JSON."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    try:
        tree = json.loads(lines[at])
        lines[at] = json.dumps(_changed(tree, rng)).encode()
    except (ValueError, RecursionError):
        return _word(data, rng)
    return b"\n".join(lines)


def _changed(tree: Any, rng: random.Random) -> Any:
    if isinstance(tree, dict) and tree and rng.random() < 0.8:
        key = rng.choice(list(tree))
        if rng.random() < 0.1:
            return {name: each for name, each in tree.items() if name != key}
        return {**tree, key: _changed(tree[key], rng)}
    if isinstance(tree, list) and tree and rng.random() < 0.8:
        at = rng.randrange(len(tree))
        return [*tree[:at], _changed(tree[at], rng), *tree[at + 1 :]]
    return rng.choice(ODD_VALUES)


Mutation = Callable[[bytes, random.Random], bytes]
MUTATIONS: tuple[Mutation, ...] = (
    _flip, _flip, _cut, _repeat, _word, _word, _noise, _value, _value, _value,
)  # fmt: skip


# Readers ------------------------------------------------------------------------------------------


class TooSlow(Exception):
    """Raised when a reader takes longer than `--seconds-each`."""


@contextmanager
def limited(megabytes: int) -> Iterator[None]:
    """Limit further address space, and let the CPU timer raise `TooSlow`."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    old = signal.signal(signal.SIGPROF, _too_slow)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, old)
        resource.setrlimit(resource.RLIMIT_AS, before)


def _too_slow(*_: object) -> None:
    raise TooSlow("it takes too long")


class Fuzzer:
    """Feeds targets in turn, and keeps the first input of every kind of crash."""

    def __init__(self, seed: int, seconds_each: float, corpus: Path) -> None:
        self.seed = seed
        self.seconds_each = seconds_each
        self.corpus = corpus
        self.inputs: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.crashes: dict[tuple[str, str], int] = {}

    def feed(self, target: Target, number: int) -> None:
        """Feed the next inputs to a target."""
        first = self.inputs[target.name]
        examples = tuple(target.examples)
        rng = random.Random(f"fuzz/{self.seed}/{target.name}/{first}")
        for _ in range(number):
            self._try(target, mutated(examples, rng))
        self.inputs[target.name] += number

    def _try(self, target: Target, data: bytes) -> None:
        signal.setitimer(signal.ITIMER_PROF, self.seconds_each)
        try:
            refusal = run_target(target, data)
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            self.refused[target.name] += refusal is not None
        except Exception as error:  # noqa: BLE001 - whatever is not ours is what we look for
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            self._keep(target, data, error)

    def _keep(self, target: Target, data: bytes, error: Exception) -> None:
        where = traceback.extract_tb(error.__traceback__)[-1]
        kind = f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}"
        new = (target.name, kind) not in self.crashes
        self.crashes[target.name, kind] = self.crashes.get((target.name, kind), 0) + 1
        if new:
            folder = self.corpus / target.name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / hashlib.blake2b(data, digest_size=8).hexdigest()).write_bytes(data)


def fuzz(
    found: list[Target], fuzzer: Fuzzer, inputs: int, minutes: float, say: Callable[[str], None]
) -> None:
    """Feed all targets in turn until the number of inputs or the time is reached."""
    until = time.monotonic() + 60.0 * minutes
    said = time.monotonic()
    while fuzzer.inputs.total() < inputs and time.monotonic() < until:
        for target in found:
            fuzzer.feed(target, max(1, round(CHUNK * target.share)))
        if time.monotonic() - said > 30.0:
            said = time.monotonic()
            say(f"{fuzzer.inputs.total():,} inputs, {len(fuzzer.crashes)} kinds of crashes")


def table(fuzzer: Fuzzer) -> Table:
    shown = Table("target", "inputs", "refused", "crashes")
    for name, number in fuzzer.inputs.items():
        crashes = sum(n for (target, _), n in fuzzer.crashes.items() if target == name)
        shown.add_row(name, f"{number:,}", f"{fuzzer.refused[name]:,}", str(crashes))
    return shown


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--inputs", type=int, default=1_000_000)
    words.add_argument("--minutes", type=float, default=30.0, help="no longer than that")
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--only", default="", help="targets whose name begins so")
    words.add_argument("--seconds-each", type=float, default=10.0)
    words.add_argument("--megabytes", type=int, default=2048)
    chosen = words.parse_args()
    console, began = Console(), time.monotonic()
    say = functools.partial(console.print, highlight=False, markup=False)
    fuzzer = Fuzzer(chosen.seed, chosen.seconds_each, CORPUS)
    with tempfile.TemporaryDirectory(prefix="distrl-fuzz-") as scratch:
        found = [each for each in targets(Path(scratch)) if each.name.startswith(chosen.only)]
        watch_processes()
        with limited(chosen.megabytes):
            fuzz(found, fuzzer, chosen.inputs, chosen.minutes, say)
    console.print(table(fuzzer))
    for (name, kind), number in fuzzer.crashes.items():
        say(f"crash: {name}: {kind}, {number} times")
    figures = {
        "inputs": fuzzer.inputs.total(),
        "refused": fuzzer.refused.total(),
        "crashes": sum(fuzzer.crashes.values()),
        "host_commands": host_commands(),
        "targets": len(found),
        "seed": chosen.seed,
        "seconds": round(time.monotonic() - began, 1),
    }
    if not chosen.only and figures["inputs"] >= chosen.inputs:
        say(str(write_results("fuzz", figures, make_command("fuzz"))))
    if fuzzer.crashes or host_commands():
        raise SystemExit("something was not refused as it should be")


if __name__ == "__main__":
    main()
