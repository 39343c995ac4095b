"""Files as a power cut leaves them: torn ends and half-written files."""

from __future__ import annotations

import os
import random

from distrl.replay.store.trajectory_database import NAME as DATABASE
from distrl.runs.run_directory import RunDirectory


def tear_files(run: RunDirectory, rng: random.Random) -> bool:
    """Damage the files of a stopped run; return True if the write-ahead log was torn too."""
    log = run.trajectories / f"{DATABASE}-wal"
    torn = log.exists()
    if torn:
        with log.open("ab") as file:
            file.write(os.urandom(rng.randint(1, 40_000)))
    with run.metrics.open("ab") as file:
        file.write(b'{"series": "learner", "upda')
    for folder in (run.weights, run.checkpoints / ".unfinished-abc"):
        folder.mkdir(parents=True, exist_ok=True)
    (run.weights / ".unfinished-999").write_bytes(b"half")
    return torn
