"""A learner killed while 8 threads deliver: nothing acknowledged is lost or doubled."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from distrl.replay.store.trajectory_reader import TrajectoryReader

ROOT = Path(__file__).parents[3]
KILLS = 5


def deliver_and_kill(directory: Path, first: int, answers: int) -> list[tuple[str, str]]:
    """Kill the process after it has acknowledged so many; returns all that it acknowledged."""
    words = [sys.executable, "-m", "tests.engine.ingest.delivering_process"]
    process = subprocess.Popen(
        [*words, str(directory), str(first)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    with process:
        assert process.stdout
        heard = [process.stdout.readline() for _ in range(answers)]
        process.kill()
        heard += process.stdout.readlines()
    return [(name, word) for name, word in map(str.split, heard)]


@pytest.mark.slow
def test_killed_while_threads_share_commits(tmp_path: Path) -> None:
    rng = random.Random("group commits/0")
    new: Counter[str] = Counter()
    known: Counter[str] = Counter()
    first = 0
    for _ in range(KILLS):
        for name, word in deliver_and_kill(tmp_path, first, rng.randrange(20, 80)):
            (new if word == "new" else known)[name] += 1
        # Each goes on a little before what the slowest thread was told.
        last = [max(int(name.split("/")[1]) for name in new if name[0] == str(n)) for n in range(8)]
        first = max(0, min(last) - 1)
        stored = Counter(each.trajectory.id for each in TrajectoryReader(tmp_path / "store").read())
        assert max(stored.values()) == 1
        assert set(new | known) <= set(stored)
    assert max(new.values()) == 1, "counted twice"
    assert known, "nothing was sent again"
