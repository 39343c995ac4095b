"""An evaluation in a process of its own: the weights that it was given, and what becomes of it."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
import torch
from tests.engine.tiny_runs import tiny_config

from distrl.engine.local.collector_pool import Forkserver
from distrl.engine.local.evaluation_process import EvaluationProcesses
from distrl.engine.run.evaluator import EvaluationRequest, Evaluator
from distrl.engine.run.stop_request import StopRequest
from distrl.engine.wiring import build_policy
from distrl.errors import EvaluationLost
from distrl.records import Trajectory
from distrl.runs.run_directory import RunDirectory

SECONDS = 300.0  # on a slow machine


def answers(trajectories: list[Trajectory]) -> dict[str, list[tuple[str, list[float]]]]:
    """What was said to each task, and how likely it was."""
    return {
        each.task.id: [(d.text, [round(p, 3) for p in d.log_probs]) for d in each.decisions]
        for each in trajectories
    }


@pytest.mark.slow
def test_it_plays_what_the_learner_would_play_with_those_weights(
    tmp_path: Path, model: Path
) -> None:
    config, run = tiny_config(tmp_path, model), RunDirectory(tmp_path)
    run.write_config(config)
    policy = build_policy(config)
    weights = {name: 1.5 * each for name, each in policy.weights().items()}
    request = EvaluationRequest("during", 2, updates=3, version=7, seconds=1.5)
    with Forkserver():
        first = EvaluationProcesses(run).start(request, None)
        moved = EvaluationProcesses(run).start(request, weights)
        assert first.finished(SECONDS)
        assert moved.finished(SECONDS)
    assert {each.weight_version for each in moved.trajectories} == {7}
    assert list(run.path.glob(".evaluation-*")) == []
    evaluator = Evaluator(config, policy, StopRequest())
    assert answers(list(evaluator.play(request))) == answers(first.trajectories)
    policy.load_weights(weights, 7)
    assert answers(list(evaluator.play(request))) == answers(moved.trajectories)
    assert answers(first.trajectories) != answers(moved.trajectories)


def test_one_that_dies_is_lost_and_one_that_is_cancelled_is_gone(
    tmp_path: Path, model: Path
) -> None:
    run = RunDirectory(tmp_path)
    run.write_config(tiny_config(tmp_path, model))
    with Forkserver() as forkserver:
        assert forkserver.is_ready(SECONDS)
        gc.collect()  # what other tests left open is not this one's
        before = open_files()
        left = run.path / ".evaluation-3.safetensors"
        left.write_bytes(b"of a learner that was killed")
        request = EvaluationRequest("during", 9**6, 0, 3, 0.0)
        running = EvaluationProcesses(run).start(request, {"weight": torch.zeros(2)})
        running.cancel()
        assert not left.exists()
        with pytest.raises(EvaluationLost, match=r"evaluation\.log says why"):
            running.finished(SECONDS)
        assert open_files() <= before  # at once, though `running` is still known


def open_files() -> set[str]:
    return {each.name for each in Path("/proc/self/fd").iterdir()}
