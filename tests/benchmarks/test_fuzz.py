"""Inputs that once crashed a reader are refused now, and so is a first handful of broken ones."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from benchmarks.fuzz import CORPUS, Fuzzer, host_commands, limited, mutated, watch_processes
from benchmarks.fuzz_target import Target, run_target
from benchmarks.fuzz_targets import targets

KEPT = sorted(path for path in CORPUS.glob("*/*") if path.is_file())


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Target]:
    return {each.name: each for each in targets(tmp_path_factory.mktemp("fuzz"))}


@pytest.mark.parametrize("path", KEPT, ids=[f"{path.parent.name}/{path.name}" for path in KEPT])
def test_what_crashed_once_is_read_or_refused(path: Path, found: dict[str, Target]) -> None:
    run_target(found[path.parent.name], path.read_bytes())


def test_every_reader_takes_its_examples_and_no_broken_input_crashes_it(
    found: dict[str, Target], tmp_path: Path
) -> None:
    fuzzer = Fuzzer(seed=0, seconds_each=20.0, corpus=tmp_path)
    with limited(megabytes=4096):
        for target in found.values():
            refused = run_target(target, target.examples[0])
            assert (refused is None) == target.whole, f"{target.name}: {refused}"
            fuzzer.feed(target, 10)
    assert fuzzer.crashes == {}


def test_a_crash_is_counted_and_its_first_input_kept(tmp_path: Path) -> None:
    def read(data: bytes) -> object:
        raise LookupError(data)

    fuzzer = Fuzzer(seed=0, seconds_each=20.0, corpus=tmp_path)
    with limited(megabytes=4096):
        fuzzer.feed(Target("made-up", [b"some bytes"], read), 5)
    assert list(fuzzer.crashes.values()) == [5]
    [kept] = (tmp_path / "made-up").iterdir()
    assert kept.read_bytes() == mutated((b"some bytes",), random.Random("fuzz/0/made-up/0"))


def test_a_reader_that_hangs_is_a_crash(tmp_path: Path) -> None:
    def read(data: bytes) -> object:
        while True:
            pass

    fuzzer = Fuzzer(seed=0, seconds_each=0.01, corpus=tmp_path)
    with limited(megabytes=4096):
        fuzzer.feed(Target("made-up", [b"some bytes"], read), 1)
    [(_, kind)] = fuzzer.crashes
    assert kind.startswith("TooSlow at ")


def test_a_process_that_a_reader_starts_is_counted() -> None:
    watch_processes()
    before = host_commands()
    subprocess.run(["true"], check=True)
    assert host_commands() > before
