"""A restarted learner goes on as if nothing had happened; a damaged checkpoint says so."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.small_world import ANSWERS, VOCABULARY
from benchmarks.tabular_policy import TabularPolicy
from tests.learning.small_circle import SmallCircle

from distrl.agent.export_directory import UNFINISHED
from distrl.errors import CorruptCheckpoint, InvalidSetting
from distrl.learning.algorithms.a_ride import ARide
from distrl.learning.checkpoint import (
    MANIFEST,
    STATE,
    TENSORS,
    CheckpointFolder,
    join,
    read_checkpoint,
    split,
    write_checkpoint,
)
from distrl.learning.gradient_step import GradientStep
from distrl.learning.learner import Learner
from distrl.records import Trajectory
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.buffer.replay_buffer import ReplayBuffer

NOTHING: dict[str, Trajectory] = {}
SMALL = {"text": "é", "tensor": torch.arange(4.0), "counts": [1, 2]}


# Going on -----------------------------------------------------------------------------------------


def test_a_resumed_run_is_the_uninterrupted_one_bit_by_bit(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "capacity": 40,  # so that the ring turns over, before and after
        "beta": 0.5,
        "warm_up_updates": 2,
        "updates_per_publish": 3,
    }
    whole = SmallCircle(**settings)
    folder = CheckpointFolder(tmp_path)
    whole.rounds(0, 13)
    assert whole.learner.updates == 10
    saved = folder.save(whole.learner)
    kept = dict(whole.kept)
    after = whole.rounds(13, 23)

    resumed = SmallCircle(**settings)
    torch.rand(7)  # another process has drawn other numbers
    assert folder.restore(resumed.learner, kept.get) == ()
    assert resumed.learner.version == 2
    resumed.collector.load_weights(whole.published[1], 2)  # what was out at the checkpoint
    assert resumed.rounds(13, 23) == after
    assert saved.name == "update-000000010.000"
    _same(resumed.learner.state_dict(), whole.learner.state_dict())


def _same(left: Any, right: Any) -> None:
    """Equal to the last bit, all the way down."""
    if isinstance(left, dict):
        assert list(left) == list(right)
        for key in left:
            _same(left[key], right[key])
    elif isinstance(left, list | tuple):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            _same(one, other)
    elif isinstance(left, torch.Tensor):
        assert left.dtype == right.dtype
        assert torch.equal(left, right)
    elif isinstance(left, np.ndarray):
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right)
    else:
        assert left == right


def test_the_random_state_of_torch_comes_back(tmp_path: Path) -> None:
    circle, folder = SmallCircle(), CheckpointFolder(tmp_path)
    folder.save(circle.learner)
    wanted = torch.rand(3)
    torch.rand(3)
    folder.restore(circle.learner, circle.kept.get)
    assert torch.equal(torch.rand(3), wanted)


def test_trajectories_that_are_lost_are_named(tmp_path: Path) -> None:
    circle, folder = SmallCircle(), CheckpointFolder(tmp_path)
    circle.rounds(0, 8)
    folder.save(circle.learner)
    gone = sorted(circle.kept)[3:5]
    found = {name: each for name, each in circle.kept.items() if name not in gone}
    fresh = SmallCircle()
    lost = folder.restore(fresh.learner, found.get)
    assert sorted(lost or ()) == gone
    assert len(fresh.learner.replay) == 30
    fresh.rounds(8, 10)


def test_there_may_be_nothing_to_continue_from(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path / "none yet")
    assert folder.latest() is None
    assert folder.restore(SmallCircle().learner, NOTHING.get) is None


def test_a_checkpoint_of_another_policy_is_refused(tmp_path: Path) -> None:
    circle, folder = SmallCircle(), CheckpointFolder(tmp_path)
    folder.save(circle.learner)
    policy = TabularPolicy(3, VOCABULARY, ANSWERS)
    step = GradientStep(policy)
    other = Learner(policy, ARide(step), step, ReplayBuffer(), Pacing(1.0), circle.arrivals, circle)
    with pytest.raises(CorruptCheckpoint, match="another policy"):
        folder.restore(other, NOTHING.get)


# The folder ---------------------------------------------------------------------------------------


def test_the_newest_are_kept(tmp_path: Path) -> None:
    circle, folder = SmallCircle(), CheckpointFolder(tmp_path, keep=2)
    for number in range(3, 8):
        circle.rounds(number, number + 1)
        folder.save(circle.learner)
    again = folder.save(circle.learner)  # without an update in between
    assert [path.name for path in folder.all()] == ["update-000000002.000", "update-000000002.001"]
    assert folder.latest() == again


def test_keeping_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="keep=0"):
        CheckpointFolder(tmp_path, keep=0)


def test_a_save_that_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "update-1", SMALL)
    with pytest.raises(TypeError, match="/inside/1: a object has no place in a state"):
        write_checkpoint(tmp_path / "update-2", {"inside": [1, object()]})
    assert [path.name for path in tmp_path.iterdir()] == ["update-1"]
    _same(read_checkpoint(tmp_path / "update-1"), SMALL)


def test_what_a_killed_save_left_is_never_read_and_cleared_away(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path)
    (tmp_path / f"{UNFINISHED}abc").mkdir()
    (tmp_path / f"{UNFINISHED}abc" / STATE).write_text("{")
    assert folder.latest() is None
    folder.save(SmallCircle().learner)
    assert [path.name for path in tmp_path.iterdir()] == ["update-000000000.000"]


KILLED = """
import sys, torch
from pathlib import Path
from distrl.learning.checkpoint import write_checkpoint
for number in range(10_000):
    tensors = {str(n): torch.full((64, 1024), float(number)) for n in range(8)}
    write_checkpoint(Path(sys.argv[1]) / f"update-{number:06d}", {"number": number, **tensors})
"""


def test_a_checkpoint_is_whole_from_the_moment_it_is_there(tmp_path: Path) -> None:
    """Read while a process writes as fast as it can, and after it was killed in the middle."""
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)])
    try:
        for number in range(12):
            path = tmp_path / f"update-{number:06d}"
            while not path.exists():
                assert process.poll() is None
                time.sleep(0.001)
            read_checkpoint(path)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    for number, path in enumerate(sorted(tmp_path.glob("update-*"))):
        state = read_checkpoint(path)
        assert state["number"] == number
        assert all((state[str(n)] == float(number)).all() for n in range(8))


# Damage -------------------------------------------------------------------------------------------


def _flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(bytes(content))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-3]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "first bit": lambda path: _flip(path, 0),
    "last bit": lambda path: _flip(path, -1),
    "a bit in the middle": lambda path: _flip(path, path.stat().st_size // 2),
    "not text": lambda path: path.write_bytes(b"\xff\xfe\x00"),
    "other text": lambda path: path.write_text("[1, 2]"),
}


@pytest.mark.parametrize("file", [MANIFEST, STATE, TENSORS])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found_and_named(tmp_path: Path, file: str, damage: str) -> None:
    path = tmp_path / "update-2"
    write_checkpoint(tmp_path / "update-1", SMALL)
    write_checkpoint(path, SMALL)
    DAMAGE[damage](path / file)
    with pytest.raises(CorruptCheckpoint, match=f"{path}: .*remove it to continue from update-1"):
        read_checkpoint(path)


def test_every_byte_counts(tmp_path: Path) -> None:
    path = tmp_path / "update-1"
    write_checkpoint(path, {"one": torch.ones(2), "two": 2})
    for file in (path / STATE, path / TENSORS):
        for place in range(file.stat().st_size):
            _flip(file, place)
            with pytest.raises(CorruptCheckpoint):
                read_checkpoint(path)
            _flip(file, place)
    assert read_checkpoint(path)["two"] == 2


def test_another_version_is_refused_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "update-1"
    write_checkpoint(path, SMALL)
    manifest = json.loads((path / MANIFEST).read_text())
    (path / MANIFEST).write_text(json.dumps(manifest | {"version": 99}))
    with pytest.raises(CorruptCheckpoint, match="of version 99, this reads version 1"):
        read_checkpoint(path)


def test_a_folder_that_is_not_there_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(CorruptCheckpoint, match="there is no other beside it"):
        read_checkpoint(tmp_path / "update-1")


def test_a_state_that_lacks_something_is_refused() -> None:
    circle = SmallCircle()
    state = circle.learner.state_dict()
    for name in state.keys() - {"cuda_rng"}:  # which a CPU has no use for
        with pytest.raises(CorruptCheckpoint):
            SmallCircle().learner.load_state(
                {k: v for k, v in state.items() if k != name}, NOTHING.get
            )


# The tree -----------------------------------------------------------------------------------------


def test_a_tree_comes_back_as_it_was() -> None:
    tree = {
        "numbers": [0, -1, 2**127, 0.1, 1e-310, float("inf"), True, None],
        "by number": {0: torch.tensor(3.0), 1: {"step": torch.zeros(0)}},
        "pair": (0.9, 0.999),
        "$tensor": "a text that looks like a mark",
        "half": torch.tensor([1.0, 2.0]).half(),
        "transposed": torch.arange(6.0).reshape(2, 3).T,
        "array": np.arange(3, dtype=np.int64),
        "empty array": np.zeros(0),
        "nothing": {},
    }
    tensors: dict[str, torch.Tensor] = {}
    text = json.dumps(split(tree, tensors))
    _same(join(json.loads(text), tensors), tree)
    assert len(tensors) == 6


def test_a_split_tree_is_a_copy() -> None:
    weights = torch.zeros(3)
    tensors: dict[str, torch.Tensor] = {}
    split({"weights": weights, "same": weights}, tensors)
    weights += 1.0
    assert all(not tensor.any() for tensor in tensors.values())
    assert len({tensor.data_ptr() for tensor in tensors.values()}) == 2
