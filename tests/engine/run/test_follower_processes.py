"""Several processes share the updates of a whole run: `learning.gpus`, here over gloo on a CPU."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from tests.engine.tiny_runs import command, start, tiny_config

from distrl.engine.local.local_engine import LocalEngine
from distrl.engine.run.follower_processes import learner_process_group
from distrl.errors import FollowerLost, InvalidSetting
from distrl.learning.checkpoint import CheckpointFolder, read_checkpoint
from distrl.learning.process_group import SingleProcess
from distrl.runs.run_directory import RunDirectory

pytestmark = pytest.mark.timeout(900)
QUIET = Console(quiet=True)
PATIENCE = 300.0  # seconds for anything that a loaded machine may take; only a hang takes longer


def begin(folder: Path, model: Path, *overrides: str) -> LocalEngine:
    folder.mkdir(exist_ok=True)
    config = tiny_config(
        folder, model, "collection.mode=one_process", "evaluation.after=0", *overrides
    )
    run = RunDirectory.new(folder / "runs", "ranks", datetime(2026, 1, 1, tzinfo=UTC))
    run.write_config(config)
    return LocalEngine(config, run, QUIET)


def followers(pid: int) -> list[int]:
    words = ["pgrep", "-P", str(pid), "distrl-rank"]
    found = subprocess.run(words, capture_output=True, text=True).stdout
    return [int(each) for each in found.split()]


def learned(run: RunDirectory) -> dict[str, Any]:
    newest = CheckpointFolder(run.checkpoints).latest()
    assert newest is not None
    state: dict[str, Any] = read_checkpoint(newest)["learner"]
    return state


def wait_for(what: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < until
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
def test_two_processes_train_to_the_weights_of_one(tmp_path: Path, model: Path) -> None:
    states = []
    for gpus in (1, 2):
        engine = begin(
            tmp_path / str(gpus),
            model,
            "run.updates=3",
            f"learning.gpus={gpus}",
            'learning.a_ride.advantage="signed"',  # every turn has a gradient to compare
        )
        engine.train()
        states.append(learned(engine.directory))
        assert followers(os.getpid()) == []
    one, two = states
    assert one["updates"] == two["updates"] == 3
    names = [name for name in one["policy"] if name.startswith("policy.")]
    moments, others = (state["policy_optimiser"]["state"] for state in states)
    assert len(names) == len(moments)
    for name, moment, other in zip(names, moments.values(), others.values(), strict=True):
        torch.testing.assert_close(other["exp_avg"], moment["exp_avg"], atol=1e-6, rtol=0.0)
        # Adam turns a gradient that is 0 but for rounding into a step in either direction.
        real = moment["exp_avg"].abs() > 1e-5
        difference = (two["policy"][name] - one["policy"][name])[real]
        assert torch.all(difference.abs() < 1e-5), name
    assert max(float(each["exp_avg"].abs().max()) for each in moments.values()) > 1e-3


@contextmanager
def started(words: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A command that is ended with the test, however that ends."""
    process = start(words, log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_lost_follower_ends_the_run_which_is_then_resumed(tmp_path: Path, model: Path) -> None:
    off = ("evaluation.before=0", "evaluation.after=0")
    words = command(tmp_path, model, "run.updates=100000", "learning.gpus=2", *off)
    log = tmp_path / "log"
    with started(words, log) as process:
        wait_for(lambda: list(tmp_path.glob("runs/*/config.toml")))
        [path] = tmp_path.glob("runs/*")
        run = RunDirectory(path)
        wait_for(lambda: list(run.checkpoints.glob("update-*")))
        [follower] = followers(process.pid)
        os.kill(follower, signal.SIGKILL)
        assert process.wait(PATIENCE) not in (0, None)
    said = "".join(log.read_text().split())  # the terminal breaks lines anywhere
    assert "FollowerLost:rank1ofthelearner" in said
    assert f"--resume{path}" in said
    assert not run.result.exists()

    wanted = learned(run)["updates"] + 2
    resume = [*words[:3], "train", "--resume", str(path), "--set", f"run.updates={wanted}"]
    with started(resume, log) as process:
        wait_for(lambda: followers(process.pid))
        assert process.wait(PATIENCE) == 0, log.read_text()
    assert learned(run)["updates"] == wanted
    assert run.result.exists()


@pytest.mark.slow
def test_a_killed_leader_leaves_no_follower(tmp_path: Path, model: Path) -> None:
    words = command(tmp_path, model, "learning.gpus=3", "evaluation.before=0")
    with started(words, tmp_path / "log") as process:
        wait_for(lambda: len(followers(process.pid)) == 2)
        ranks = followers(process.pid)
    wait_for(lambda: not any(alive(rank) for rank in ranks))


@pytest.mark.slow
def test_a_follower_that_cannot_begin_says_why(tmp_path: Path, model: Path) -> None:
    engine = begin(tmp_path, model, "learning.gpus=2")
    text = engine.directory.config.read_text().replace(str(model), "/no/such/model")
    engine.directory.config.write_text(text)  # which the follower reads
    with pytest.raises(FollowerLost, match="ended with 1") as lost:
        engine.train()
    [log] = (engine.directory.path / "logs").glob("learner-1.log")
    assert str(log) in str(lost.value)
    assert "there is no directory /no/such/model" in log.read_text()


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("cuda", r"learning.gpus=64, and rank 63 finds no GPU of its own: .*sees \d+ GPUs"),
        ("cuda:1", "learning.gpus=64 with agent.policy.device='cuda:1'.*CUDA_VISIBLE_DEVICES"),
    ],
)
def test_more_ranks_than_gpus_are_refused(
    tmp_path: Path, model: Path, device: str, said: str
) -> None:
    engine = begin(tmp_path, model, "learning.gpus=64", f"agent.policy.device={device}")
    group = learner_process_group(engine.config, engine.directory)
    with pytest.raises(InvalidSetting, match=said), group:
        pass
    assert not (engine.directory.path / "logs").exists()


def test_one_gpu_needs_no_other_process(tmp_path: Path, model: Path) -> None:
    engine = begin(tmp_path, model)
    with learner_process_group(engine.config, engine.directory) as group:
        assert isinstance(group, SingleProcess)
