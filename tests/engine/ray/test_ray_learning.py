"""A run across three nodes learns: the starter model finds out what nobody demonstrated."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import fmean

import pytest
from tests.engine.ray.small_cluster import SmallCluster

from distrl.json_lines import read_lines
from distrl.process_environment import for_forkserver
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.runs.run_records import EpisodeLine

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(1800)]
CONFIG = Path(__file__).parents[3] / "src/distrl/configs" / "quick_start.toml"
SETTINGS = {
    "run.minutes": 20,
    "run.updates": 120,
    "tasks.templates": "browser.open_bookmark",
    "devices.count": 6,
    "collection.collectors": 3,
    "pacing.minimum_fill": 8,
    "pacing.samples_per_insert": 5,
    "learning.learner.batch_trajectories": 8,
    "learning.learner.warm_up_updates": 3,
    "learning.step.learning_rate": 2e-4,
    "evaluation.before": 10,
    "evaluation.after": 10,
    "reporting.recordings": 0,
}


def test_a_run_across_three_nodes_learns(nodes: SmallCluster, tmp_path: Path) -> None:
    for _ in range(3):
        nodes.add(phones=2)
    words = [sys.executable, "-c", "from distrl.cli.main import main; main()", "train", str(CONFIG)]
    for name, value in {**SETTINGS, "run.directory": tmp_path / "runs"}.items():
        words += ["--set", f"{name}={value}"]
    words += ["--engine", "ray", "--address", nodes.address]
    done = subprocess.run(
        words, env=for_forkserver(os.environ), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    [path] = (tmp_path / "runs").iterdir()
    result = json.loads((path / "result.json").read_text("utf-8"))
    assert result["success_before"]["episodes"] == result["success_after"]["episodes"] == 10
    played = [each.success for each in read_lines(path / "episodes.jsonl", EpisodeLine)]
    third = len(played) // 3
    assert third >= 30
    early, late = fmean(played[:third]), fmean(played[-third:])
    assert late > early + 0.1, (early, late, result["success_before"], result["success_after"])
    authors = {
        s.trajectory.id.split("/")[0] for s in TrajectoryReader(path / "trajectories").read()
    }
    assert len(authors) == 3
