"""A run directory with a great many tiny episodes, each with its own instruction."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from distrl.config.training_config import load_config
from distrl.json_lines import LineLog
from distrl.records import Decision, Done, Ending, Screen, Tap, Task, Trajectory, Verdict
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine

AT_ONCE = 1000  # trajectories per transaction
SCREENS = tuple(Screen(np.full((8, 4, 3), shade, np.uint8)) for shade in (40, 80, 160))


def write_many_episodes(path: Path, count: int) -> RunDirectory:
    """Create the run with settings, `count` stored trajectories, and their episode lines."""
    run = RunDirectory(path)
    run.path.mkdir(parents=True)
    run.write_config(load_config(None, []))
    with TrajectoryStore(run.trajectories) as store, LineLog.open(run.episodes) as lines:
        for start in range(0, count, AT_ONCE):
            some = [_episode(number) for number in range(start, min(start + AT_ONCE, count))]
            store.append_all(some)
            for number, each in enumerate(some, start):
                lines.append(_line(each, number))
    return run


def _episode(number: int) -> Trajectory:
    success = number % 3 > 0
    return Trajectory(
        id=f"collector-0.1/{number}/notes.create/train/{number}",
        task=Task(
            f"notes.create/train/{number}", f"Write down the number {number}", "general",
            "notes.create", "train", number, ("Notes",), "easy", 10,
        ),
        decisions=(
            Decision(Tap(0.5, 0.25), "tap", (7, 8), (-0.1, -0.2), number // 100),
            Decision(Done(), "done", (9,), (-0.01,), number // 100),
        ),
        screens=SCREENS,
        ending=Ending.SUCCESS if success else Ending.FAILURE,
        verdict=Verdict(success, "" if success else "there is no such note", "facts"),
        device_seconds=1.0,
    )  # fmt: skip


def _line(trajectory: Trajectory, number: int) -> EpisodeLine:
    return EpisodeLine(
        trajectory.id, trajectory.task.id, trajectory.task.template, trajectory.ending,
        len(trajectory.decisions), trajectory.weight_version, number % 5, f"phone-{number % 8}",
        number / 10, number / 10 + 1.0,
    )  # fmt: skip
