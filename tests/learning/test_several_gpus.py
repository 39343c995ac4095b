"""Two processes that learn together, real ones over gloo, are one learner."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tests.learning.small_circle import SmallCircle
from tests.learning.team_member import ALGORITHMS, circle_of, lead

from distrl.errors import UsageError
from distrl.learning.several_gpus import follow

ROOT = Path(__file__).parents[2]
PROCESSES = 2


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def _environment(place: int, port: int) -> dict[str, str]:
    """What a launcher tells each process."""
    return os.environ | {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "RANK": str(place),
        "LOCAL_RANK": str(place),
        "WORLD_SIZE": str(PROCESSES),
        "LOCAL_WORLD_SIZE": str(PROCESSES),
        "OMP_NUM_THREADS": "1",
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where both have left what they have, after some rounds with each algorithm."""
    where, port = tmp_path_factory.mktemp("team"), _free_port()
    command = [sys.executable, "-m", "tests.learning.team_member", str(where)]
    members = [
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=_environment(place, port),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for place in range(PROCESSES)
    ]
    try:
        said = [member.communicate(timeout=100)[0] for member in members]
    finally:
        for member in members:
            member.kill()
    assert [member.returncode for member in members] == [0] * PROCESSES, "\n".join(said)
    return where


def _said(folder: Path, name: str, place: int) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((folder / f"{name}-{place}" / "said.json").read_text())
    assert said["size"] == PROCESSES
    return said


@pytest.mark.parametrize("name", ALGORITHMS)
def test_two_processes_learn_what_one_learns_from_the_whole_batch(
    name: str, folder: Path, tmp_path: Path
) -> None:
    alone = circle_of(name)
    reports = lead(alone, tmp_path)
    assert len(reports) >= 4
    together = _said(folder, name, 0)
    for report, losses, value in zip(reports, together["losses"], together["values"], strict=True):
        assert losses == pytest.approx(report.losses, abs=1e-5)
        assert value == pytest.approx(report.mean_value, abs=1e-5)
    before = circle_of(name).policy.weights()
    for weights in (load_file(folder / f"{name}-{n}/weights.safetensors") for n in range(2)):
        for part, wanted in alone.policy.weights().items():
            torch.testing.assert_close(weights[part], wanted, atol=1e-5, rtol=0.0)
        assert not torch.equal(weights["logits"], before["logits"])


@pytest.mark.parametrize("name", ALGORITHMS)
def test_only_the_leader_publishes_and_writes(name: str, folder: Path) -> None:
    leader, follower = (_said(folder, name, place) for place in range(PROCESSES))
    assert leader["versions"] == sorted(leader["versions"]) != []
    assert follower["versions"] == []
    assert follower["refused"]  # to be a learner of its own
    assert list((folder / f"{name}-0" / "checkpoints").iterdir())
    assert {each.name for each in (folder / f"{name}-1").iterdir()} == {
        "said.json",
        "weights.safetensors",
    }


def test_who_is_alone_has_nobody_to_follow() -> None:
    learner = SmallCircle().learner
    with pytest.raises(UsageError, match="without a team"):
        follow(learner.policy, learner.algorithm, learner.gradient_step)
