"""Many collectors killed, one after the other: nothing acknowledged is lost or counted twice."""

from __future__ import annotations

import threading
import time
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.engine.ray.cheap_collectors import PHONES, CheapBuild
from tests.engine.ray.small_cluster import SmallCluster, kill
from tests.engine.tiny_runs import tiny_config

from distrl.cli.train import new_directory
from distrl.json_lines import read_lines
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.runs.run_records import EpisodeLine

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(1500)]
KILLS, FEW_KILLS = 20, 6  # all with --all-seeds
COLLECTORS, TRAJECTORIES_PER_KILL = 3, 30
PATIENCE = 600.0
SETTINGS = (
    f"devices.count={PHONES * COLLECTORS}",
    f"collection.collectors={COLLECTORS}",
    "collection.restarts=1000",
    "pacing.minimum_fill=2000",  # the learner takes them in, and learns nothing
    "replay.capacity=2000",
    "run.minutes=20",
    "evaluation.before=0",
    "evaluation.after=0",
)


def kill_many(nodes: SmallCluster, killed: list[int], kills: int, hurry: Path) -> None:
    """Whoever has brought something is next; then the rest of the run may pass quickly."""
    until = time.monotonic() + PATIENCE
    while len(killed) < kills and time.monotonic() < until:
        for pid in nodes.pids("RayCollector"):
            if pid not in killed and nodes.acknowledged(pid):
                kill(pid)
                killed.append(pid)
                until = time.monotonic() + PATIENCE
        time.sleep(0.1)
    hurry.touch()


def test_killed_collectors_cost_their_episodes_and_nothing_else(
    tmp_path: Path, model: Path, nodes: SmallCluster, all_seeds: bool
) -> None:
    from distrl.engine.ray.ray_engine import RayEngine

    kills = KILLS if all_seeds else FEW_KILLS
    trajectories = TRAJECTORIES_PER_KILL * kills
    for _ in range(COLLECTORS):
        nodes.add(phones=PHONES)
    config = tiny_config(tmp_path, model, *SETTINGS, f"run.trajectories={trajectories}")
    run, hurry, killed = new_directory(config), tmp_path / "hurry", list[int]()
    before = set(nodes.acknowledged())
    harm = threading.Thread(target=kill_many, args=(nodes, killed, kills, hurry))
    harm.start()
    said = StringIO()
    engine = RayEngine(config, run, Console(file=said, width=200), CheapBuild(hurry))
    result = engine.train()
    harm.join(PATIENCE)

    told = [each for each in nodes.acknowledged() if each not in before]
    stored = [each.trajectory.id for each in TrajectoryReader(run.trajectories).read()]
    noted = [line.id for line in read_lines(run.episodes, EpisodeLine)]
    assert len(killed) >= kills
    assert said.getvalue().count("is gone") >= kills
    assert len(told) == len(set(told)) >= kills
    assert set(told) <= set(stored)
    assert len(stored) == len(set(stored)) == result.trajectories >= trajectories
    assert sorted(noted) == sorted(stored)
