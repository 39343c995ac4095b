"""Two processes that learn together, real ones over gloo, are one learner."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tests.learning.data_parallel_rank import ALGORITHMS, circle_of, lead
from tests.learning.small_circle import SmallCircle

from distrl.errors import UsageError
from distrl.learning.data_parallel import follow

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROCESSES = 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where both ranks have left what they have, after some rounds with each algorithm."""
    where = tmp_path_factory.mktemp("ranks")
    ranks = _start_ranks(where)
    try:
        said = [rank.communicate(timeout=500)[0] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    assert not any(rank.returncode for rank in ranks), "\n".join(said)
    return where


def _start_ranks(where: Path) -> list[subprocess.Popen[str]]:
    pipes = [Pipe() for _ in ALGORITHMS]
    command = [sys.executable, "-m", "tests.learning.data_parallel_rank", str(where)]
    ranks = []
    for rank, ends in enumerate(zip(*pipes, strict=True)):
        descriptors = [end.fileno() for end in ends]
        ranks.append(
            subprocess.Popen(
                [*command, str(rank), *map(str, descriptors)],
                cwd=ROOT,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
                pass_fds=descriptors,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
        for end in ends:
            end.close()
    return ranks


def _said(folder: Path, name: str, rank: int) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((folder / f"{name}-{rank}" / "said.json").read_text())
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
    leader, follower = (_said(folder, name, rank) for rank in range(PROCESSES))
    assert leader["versions"] == sorted(leader["versions"]) != []
    assert follower["versions"] == []
    assert follower["refused"]  # to be a learner of its own
    assert list((folder / f"{name}-0" / "checkpoints").iterdir())
    assert {each.name for each in (folder / f"{name}-1").iterdir()} == {
        "said.json",
        "weights.safetensors",
    }


def test_a_single_process_has_no_leader_to_follow() -> None:
    learner = SmallCircle().learner
    with pytest.raises(UsageError, match="without a leader"):
        follow(learner.algorithm, learner.gradient_step)
