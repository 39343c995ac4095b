"""Real processes pass samples on, and are gone when the stream is closed."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from tests.imitation.few_samples import recipe, written

from distrl.errors import ProcessError
from distrl.imitation import sample_stream
from distrl.imitation.sample_arrays import SHAPES
from distrl.imitation.sample_stream import SLABS, endless_samples, open_stream

EASY = recipe("train", "todo.star", "notes.create")
SLAB = 3


def soon(true: Callable[[], bool], seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.02)
    return true()


def test_slabs_hold_the_samples_of_their_process() -> None:
    with open_stream(EASY, processes=2, slab=SLAB) as stream:
        taken: dict[int, int] = {0: 0, 1: 0}  # slabs of each process so far
        while min(taken.values()) < 1 or sum(taken.values()) < 2 * SLABS:  # some come round again
            found = stream.take(wait=True)
            assert found is not None
            number, arrays = found
            process = number // SLABS
            first = taken[process] * SLAB
            wanted = written(tuple(islice(endless_samples(EASY, process), first, first + SLAB)))
            for name in SHAPES:
                assert np.array_equal(arrays[name], wanted[name])
            taken[process] += 1
            stream.give_back(number)


def test_a_slab_is_not_touched_until_it_is_given_back() -> None:
    with open_stream(EASY, processes=1, slab=SLAB) as stream:
        held = [stream.take(wait=True) for _ in range(SLABS)]
        copies = [{name: array.copy() for name, array in each[1].items()} for each in held if each]
        assert len({each[0] for each in held if each}) == SLABS
        for each in held * 2:
            assert each is not None
            stream.give_back(each[0])
            again = stream.take(wait=True)  # by then the process has worked
            assert again is not None
            assert again[0] == each[0]  # all others are ours
            assert stream.take(wait=False) is None
            copies[held.index(each)] = {name: array.copy() for name, array in again[1].items()}
            for mine, copy in zip(held, copies, strict=True):
                assert mine is not None
                assert all(np.array_equal(mine[1][name], copy[name]) for name in SHAPES)


@pytest.mark.parametrize("crash", [False, True])
def test_processes_end_with_the_context(crash: bool) -> None:
    before = set(multiprocessing.active_children())
    started: set[int] = set()
    try:
        with open_stream(EASY, processes=2, slab=SLAB) as stream:
            children = set(multiprocessing.active_children()) - before
            started = {child.pid for child in children if child.pid}
            assert len(started) == 2
            stream.take(wait=True)
            if crash:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert crash
    assert set(multiprocessing.active_children()) == before
    assert not any(alive(pid) for pid in started)


def alive(pid: int) -> bool:
    """And not just a name in the process table."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


TRAINER = """
import multiprocessing, time
from tests.imitation.test_sample_stream import EASY, SLAB
from distrl.imitation.sample_stream import open_stream
with open_stream(EASY, processes=2, slab=SLAB) as stream:
    stream.take(wait=True)
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
def test_no_process_outlives_a_trainer_that_was_killed() -> None:
    """It cannot say good-bye; they notice by themselves."""
    trainer = subprocess.Popen(
        [sys.executable, "-c", TRAINER], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    )
    assert trainer.stdout is not None
    pids = [int(word) for word in trainer.stdout.readline().split()]
    try:
        assert len(pids) == 2
        assert all(alive(pid) for pid in pids)
        trainer.kill()
        trainer.wait()
        assert soon(lambda: not any(alive(pid) for pid in pids))
    finally:
        trainer.stdout.close()
        for pid in filter(alive, pids):
            os.kill(pid, signal.SIGKILL)


def test_an_interrupt_is_for_the_trainer() -> None:
    with open_stream(EASY, processes=1, slab=SLAB) as stream:
        stream.take(wait=True)
        [child] = multiprocessing.active_children()
        assert child.pid is not None
        os.kill(child.pid, signal.SIGINT)
        for _ in range(SLABS):  # more than were full when it happened
            found = stream.take(wait=True)
            assert found is not None
            stream.give_back(found[0])
        assert child.is_alive()


def test_samples_that_never_come_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_stream, "PATIENCE", 0.01)
    with open_stream(EASY, processes=1, slab=64) as stream:
        [child] = multiprocessing.active_children()
        assert child.pid is not None
        os.kill(child.pid, signal.SIGSTOP)
        try:
            with pytest.raises(ProcessError, match=r"within 0\.01 s from 1 processes"):
                stream.take(wait=True)
        finally:
            os.kill(child.pid, signal.SIGCONT)  # or it could not end


def test_processes_that_die_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_stream, "PATIENCE", math.inf)  # without a deadline
    with (
        open_stream(recipe("train", "no.such_template"), processes=2, slab=SLAB) as stream,
        pytest.raises(
            ProcessError, match=r"[12] of 2 processes that make samples ended with code 1"
        ),
    ):
        stream.take(wait=True)


def test_streams_differ_and_repeat() -> None:
    def tasks(stream: int) -> list[str]:
        samples = islice(endless_samples(recipe(), stream), 40)
        return [sample.observation.instruction for sample in samples]

    assert tasks(0) == tasks(0)
    assert set(tasks(0)) != set(tasks(1))
    assert len(set(tasks(0))) > 3
