"""What is free in the heap goes back to the kernel, and what is in use stays."""

from __future__ import annotations

import subprocess
import sys

import pytest

from distrl.process_environment import WANTED

HOLES = """
from pathlib import Path
from distrl.engine.run.training_run import trim_heap

def held():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))

blocks = [bytearray(b"x" * 500_000) for _ in range(400)]
kept = blocks[::4]
del blocks
before = held()
assert trim_heap()
print(before - held())
assert all(block.count(b"x") == 500_000 for block in kept)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="not this C library")
def test_holes_between_what_is_in_use_are_given_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HOLES], env=WANTED, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 100_000  # kB, of the 150,000 that are free
