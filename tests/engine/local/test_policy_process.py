"""Runs whose collectors share one policy process: they learn, and its death costs no episode."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from tests.engine.test_killed_runs import acknowledged, descendants, name_of, updates, wait_for
from tests.engine.tiny_runs import command, start

from distrl.json_lines import read_lines
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]


@pytest.mark.parametrize("mode", ["asynchronous", "synchronous"])
def test_a_run_learns_with_one_policy_process_and_goes_on_when_that_is_killed(
    tmp_path: Path, model: Path, mode: str
) -> None:
    settings = ("engine.policy=node", "collection.collectors=2", "devices.count=4")
    more = ("run.updates=40", "evaluation.before=0", "evaluation.after=0")
    words = command(tmp_path, model, *settings, *more, f"collection.mode={mode}")
    log = tmp_path / "log"
    process = start(words, log)

    def policy() -> list[int]:
        return [each for each in descendants(process.pid) if name_of(each).startswith("policy-0.1")]

    try:
        wait_for(lambda: list((tmp_path / "runs").glob("*/metrics.jsonl")), process, log)
        [folder] = (tmp_path / "runs").iterdir()
        run = RunDirectory(folder)
        wait_for(lambda: updates(run) >= 2, process, log)
        [pid] = policy()
        os.kill(pid, signal.SIGKILL)
        assert process.wait(400.0) == 0, log.read_text()[-3000:]
    finally:
        process.kill()
        process.wait()
    assert "policy-0.1 ended with code -9" in log.read_text()
    assert (folder / "logs" / "policy-0.2.log").exists()
    stored = [each.trajectory for each in TrajectoryReader(run.trajectories).read()]
    assert {each.id for each in stored} >= set(acknowledged(run))
    assert all(each.ending.judged for each in stored)  # nothing was called a fault
    assert max(each.weight_version for each in stored) > 0  # it had the learner's weights
    assert len(read_lines(run.episodes, EpisodeLine)) == len(stored)
    collectors = {each.id.partition("/")[0] for each in stored}
    assert collectors <= {"collector-0.1", "collector-1.1"}  # no collector was lost by it
