"""A nursery of processes that store trajectories as fast as they can, to be killed by tests.

For every line on its input, `DIRECTORY LIMIT START`, it forks a child, and says `gone` when it is.
The child says `pid …`, opens a store of LIMIT bytes and sends trajectories from number START on,
alone and in batches; it says `taken ID` or `known ID` for each that the store has acknowledged.
Forking makes a child in a millisecond that would take half a second to start.
"""

from __future__ import annotations

import os
import random
import sys
from dataclasses import replace
from pathlib import Path

from tests.replay.made_up_trajectories import trajectory

from distrl.records import Trajectory
from distrl.replay.store.trajectory_store import TrajectoryStore, TrajectoryStoreSettings


def sent(number: int) -> Trajectory:
    """From a kilobyte to several hundred; the large ones are what a kill can tear."""
    letters = random.Random(f"sent/{number}").choice((0, 0, 10, 200)) * 1_000
    return replace(
        trajectory(f"t{number}", screens=(number % 7, number)), notes=(f"{number}" * letters,)
    )


def store_until_killed(directory: Path, byte_limit: int, start: int) -> None:
    with TrajectoryStore(directory, TrajectoryStoreSettings(byte_limit)) as store:
        number = start
        while True:
            size = random.Random(f"batch/{number}").choice((1, 1, 1, 4))
            batch = [sent(n) for n in range(number, number + size)]
            answers = store.append_all(batch) if size > 1 else [store.append(batch[0])]
            words = ["taken" if new else "known" for new in answers]
            lines = [f"{word} {each.id}\n" for word, each in zip(words, batch, strict=True)]
            os.write(1, "".join(lines).encode())
            number += size


def main() -> None:
    for line in sys.stdin:
        directory, byte_limit, start = line.split()
        child = os.fork()
        if not child:
            os.write(1, f"pid {os.getpid()}\n".encode())
            store_until_killed(Path(directory), int(byte_limit), int(start))
        os.waitpid(child, 0)
        os.write(1, b"gone\n")


if __name__ == "__main__":
    main()
