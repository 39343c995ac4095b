"""Writers killed again and again: nothing acknowledged is lost, nothing is there twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from tests.replay.any_trajectory import what_it_is
from tests.replay.store.storing_processes import sent

from distrl.replay.store.trajectory_reader import BEGINNING, TrajectoryReader
from distrl.replay.store.trajectory_store import TrajectoryStore, TrajectoryStoreSettings

ROOT = Path(__file__).parents[3]


@pytest.fixture
def nursery() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.replay.store.storing_processes"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    with process:
        yield process
        assert process.stdin
        process.stdin.close()
        assert process.wait(100) == 0


def lines(stream: IO[str] | None) -> Iterator[list[str]]:
    assert stream
    for line in stream:
        yield line.split()


def send_and_kill(
    nursery: subprocess.Popen[str], directory: Path, byte_limit: int, kills: int, follower: Follower
) -> set[str]:
    """Send and be killed in the middle; returns all ids that were acknowledged.

    The sender knows what was acknowledged, and sends from a little before that on.
    """
    rng = random.Random("kills/0")
    taken: Counter[str] = Counter()
    known: Counter[str] = Counter()
    heard = lines(nursery.stdout)

    def hear() -> bool:
        """One more answer of the store; False when the child is gone."""
        said = next(heard)
        if said != ["gone"]:
            (taken if said[0] == "taken" else known)[said[1]] += 1
        return said != ["gone"]

    for _ in range(kills):
        assert nursery.stdin
        nursery.stdin.write(f"{directory} {byte_limit} {max(0, len(taken | known) - 3)}\n")
        nursery.stdin.flush()
        [_, child] = next(heard)
        for _ in range(rng.choice((0, 4, 6, 10))):  # none: killed while it opens the store
            hear()
            follower.follow()
        time.sleep(rng.uniform(0.0, 0.02))
        os.kill(int(child), signal.SIGKILL)
        while hear():
            pass
    assert min(len(taken), sum(known.values())) > kills
    assert max(taken.values()) == 1, "counted twice"
    return set(taken | known)


def test_killed_at_any_moment(tmp_path: Path, nursery: subprocess.Popen[str]) -> None:
    follower = Follower(tmp_path)
    acknowledged = send_and_kill(nursery, tmp_path, 2**30, 40, follower)
    check_store(tmp_path, acknowledged)
    follower.follow()
    assert follower.seen == [stored.trajectory.id for stored in TrajectoryReader(tmp_path).read()]
    assert follower.reader.damages == ()


def test_killed_while_the_oldest_leave(tmp_path: Path, nursery: subprocess.Popen[str]) -> None:
    follower = Follower(tmp_path)
    acknowledged = send_and_kill(nursery, tmp_path, 3_000_000, 25, follower)
    with TrajectoryStore(tmp_path, TrajectoryStoreSettings(3_000_000)) as store:
        assert store.nbytes <= 3_000_000
        assert all(name in store for name in acknowledged)
        assert len(store) < len(acknowledged)  # the oldest have left
        last = int(store.ids[-1][1:])
        assert list(store.ids) == [f"t{n}" for n in range(last + 1 - len(store), last + 1)]
        assert [stored.trajectory.id for stored in store.read()] == list(store.ids)
    assert len(follower.seen) == len(set(follower.seen))


class Follower:
    """Somebody who reads all the while."""

    def __init__(self, directory: Path) -> None:
        self.reader = TrajectoryReader(directory)
        self.position = BEGINNING
        self.seen: list[str] = []

    def follow(self) -> None:
        for stored in self.reader.read(self.position):
            self.seen.append(stored.trajectory.id)
            self.position = stored.position


def check_store(directory: Path, acknowledged: set[str]) -> None:
    with TrajectoryStore(directory) as store:
        stored = [each.trajectory for each in store.read()]
        assert [each.id for each in stored] == list(store.ids)
        assert len(store.ids) == len(set(store.ids))
        assert acknowledged <= set(store.ids)
        # Beyond what was acknowledged there may be what was being sent when the kill came.
        assert len(store.ids) <= len(acknowledged) + 4
        assert [each.id for each in stored] == [f"t{n}" for n in range(len(stored))]
        for number, each in enumerate(stored):
            assert what_it_is(each) == what_it_is(sent(number))
        assert store.damages == ()
