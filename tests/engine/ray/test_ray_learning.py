"""A run across three nodes learns: the starter model finds out what nobody demonstrated."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import fmean

import pytest
from tests.engine.ray.small_cluster import SmallCluster
from tests.engine.tiny_runs import start

from distrl.json_lines import read_lines
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.runs.run_records import EpisodeLine

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(1800)]
CONFIG = Path(__file__).parents[3] / "src/distrl/configs" / "quick_start.toml"
SETTINGS = {
    "run.minutes": 20,
    "run.updates": 1000,  # the test ends it, once it has learned
    "tasks.templates": "browser.open_bookmark",
    "devices.count": 6,
    "collection.collectors": 3,
    "pacing.minimum_fill": 8,
    "pacing.samples_per_insert": 5,
    "learning.learner.batch_trajectories": 8,
    "learning.learner.warm_up_updates": 3,
    "learning.step.learning_rate": 2e-4,
    "evaluation.before": 0,
    "evaluation.after": 0,
    "reporting.recordings": 0,
}


def learned(run: Path) -> bool:
    """Did the last sixty episodes succeed a fifth more often than the first sixty?"""
    if not (run / "episodes.jsonl").is_file():
        return False
    played = [each.success for each in read_lines(run / "episodes.jsonl", EpisodeLine)]
    return len(played) >= 120 and fmean(played[-60:]) >= fmean(played[:60]) + 0.2


def test_a_run_across_three_nodes_learns(nodes: SmallCluster, tmp_path: Path) -> None:
    for _ in range(3):
        nodes.add(phones=2)
    words = [sys.executable, "-c", "from distrl.cli.main import main; main()", "train", str(CONFIG)]
    for name, value in {**SETTINGS, "run.directory": tmp_path / "runs"}.items():
        words += ["--set", f"{name}={value}"]
    words += ["--engine", "ray", "--address", nodes.address]
    process = start(words, tmp_path / "log")
    try:
        while not any(learned(each) for each in tmp_path.glob("runs/*")):
            assert process.poll() is None, (tmp_path / "log").read_text()[-3000:]
            time.sleep(1.0)
        process.terminate()
        assert process.wait(600.0) == 130, (tmp_path / "log").read_text()[-3000:]
    finally:
        process.kill()
        process.wait()
    [path] = (tmp_path / "runs").iterdir()
    slots = {
        stored.trajectory.id.split("/")[0].split(".")[0]
        for stored in TrajectoryReader(path / "trajectories").read()
    }
    assert slots == {"collector-0", "collector-1", "collector-2"}
