"""The learner's node dies: one sentence says so and how to go on, and that command goes on."""

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
from distrl.engine.run.losses import read_home
from distrl.errors import LearnerGone
from distrl.replay.store.trajectory_reader import TrajectoryReader

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(1500)]
PATIENCE = 400.0
SETTINGS = (
    "run.trajectories=24",
    f"devices.count={PHONES}",
    "pacing.minimum_fill=2000",  # the learner takes them in, and learns nothing
    "replay.capacity=2000",
    "evaluation.before=0",
    "evaluation.after=0",
)


def test_a_lost_node_of_the_learner_ends_in_one_sentence_and_the_run_can_be_resumed(
    tmp_path: Path, model: Path, nodes: SmallCluster
) -> None:
    from distrl.engine.ray.ray_engine import RayEngine

    nodes.add(phones=PHONES)
    with_gpu = nodes.add(phones=0, gpus=1)  # so the learner goes there
    config = tiny_config(tmp_path, model, *SETTINGS)
    run, hurry, said = new_directory(config), tmp_path / "hurry", StringIO()

    def stored() -> list[str]:
        return [each.trajectory.id for each in TrajectoryReader(run.trajectories).read()]

    def pull_the_plug() -> None:
        until = time.monotonic() + PATIENCE
        while not (run.learner_home.exists() and stored()) and time.monotonic() < until:
            time.sleep(0.1)
        learners = nodes.pids("RayLearner", with_gpu.node_id)
        nodes.kill(with_gpu)
        for pid in learners:
            kill(pid)

    harm = threading.Thread(target=pull_the_plug)
    harm.start()
    with pytest.raises(LearnerGone) as gone:
        RayEngine(config, run, Console(file=said, width=200), CheapBuild(hurry)).train()
    harm.join(PATIENCE)
    [sentence] = str(gone.value).splitlines()
    assert f"distrl train --resume {run.path}" in sentence
    assert read_home(run) is not None

    before = stored()
    assert before
    hurry.touch()
    again = RayEngine(config, run, Console(file=said, width=200), CheapBuild(hurry))
    result = again.train(resumed=True)
    assert result.trajectories >= 24
    assert stored()[: len(before)] == before
