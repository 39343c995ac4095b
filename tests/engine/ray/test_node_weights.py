"""Weights that the processes of a node share: checked by the first, mapped by all."""

from __future__ import annotations

import signal
import subprocess
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tests.open_files import open_files

from distrl.engine.ray.node_weights import Fetch, NodeWeights
from distrl.errors import CorruptWeights
from distrl.weights.weight_store import WeightStore

LONG = 60.0  # seconds that no test takes

HOLDER = """
import sys
from pathlib import Path
import numpy as np
from distrl.engine.ray.node_weights import NodeWeights

folder, file, digest = sys.argv[1:]
content = np.frombuffer(Path(file).read_bytes(), np.uint8)
weights = NodeWeights("node", Path(folder)).load(digest, "object", lambda: content)
print("has them", flush=True)
sys.stdin.read()
"""

CHECKER = """
import fcntl, sys
lock = open(sys.argv[1], "w")
fcntl.flock(lock, fcntl.LOCK_EX)
print("has it", flush=True)
sys.stdin.read()
"""


class Packed(NamedTuple):
    digest: str
    content: bytes


def packed(folder: Path, version: int) -> Packed:
    store = WeightStore(folder / "published")
    store.publish({"layer": torch.full((2, 3), float(version))}, version)
    found = store.packed()
    assert found is not None
    return Packed(found.digest, bytes(found.content))


def fetch(content: bytes) -> Fetch:
    """An object of its own at every call, as another process would have it.

    A slice of it does not keep it, but what it is a view of: so are the arrays that Ray gives.
    """
    return lambda: np.frombuffer(content, np.uint8).reshape(-1)


def damaged(content: bytes) -> bytes:
    return content[:-1] + b"\0"


@contextmanager
def process(source: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Another process of the node, once it has said that it has what it came for."""
    started = subprocess.Popen(
        [sys.executable, "-c", source, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with started:
        assert started.stdout is not None
        try:
            assert started.stdout.readline().startswith("has ")
            yield started
        finally:
            started.kill()


def test_what_one_has_checked_others_take_while_it_keeps_it(tmp_path: Path) -> None:
    """Its memory is theirs. That they read it once only is seen by bytes that are not."""
    version = packed(tmp_path, 1)
    first = NodeWeights("node", tmp_path).load(version.digest, "object", fetch(version.content))
    second = NodeWeights("node", tmp_path).load(
        version.digest, "object", fetch(damaged(version.content))
    )
    del first  # the second marks it as checked for the third
    third = NodeWeights("node", tmp_path).load(
        version.digest, "object", fetch(damaged(version.content))
    )
    assert (float(second["layer"][0, 0]), float(third["layer"][0, 0])) == (1.0, 1.0)
    del second, third
    with pytest.raises(CorruptWeights, match="damaged on the way"):
        NodeWeights("node", tmp_path).load(
            version.digest, "object", fetch(damaged(version.content))
        )


def test_another_object_with_the_same_digest_is_checked(tmp_path: Path) -> None:
    """A learner that is back puts the same weights into the object store again."""
    node, version = NodeWeights("node", tmp_path), packed(tmp_path, 1)
    before = node.load(version.digest, "object", fetch(version.content))
    with pytest.raises(CorruptWeights, match="damaged on the way"):
        node.load(version.digest, "another", fetch(damaged(version.content)))
    assert float(before["layer"][0, 0]) == 1.0


def test_damaged_bytes_leave_nothing_that_marks_them_as_checked(tmp_path: Path) -> None:
    node, version = NodeWeights("node", tmp_path), packed(tmp_path, 1)
    for _ in range(2):
        with pytest.raises(CorruptWeights, match="damaged on the way"):
            node.load(version.digest, "object", fetch(damaged(version.content)))
    weights = node.load(version.digest, "object", fetch(version.content))
    assert float(weights["layer"][0, 0]) == 1.0


def test_a_process_that_was_killed_marks_nothing_as_checked(tmp_path: Path) -> None:
    node, version = NodeWeights("node", tmp_path), packed(tmp_path, 1)
    (tmp_path / "file").write_bytes(version.content)
    with process(HOLDER, str(tmp_path), str(tmp_path / "file"), version.digest) as holder:
        node.load(version.digest, "object", fetch(damaged(version.content)))
        holder.send_signal(signal.SIGKILL)
        holder.wait(LONG)
        with pytest.raises(CorruptWeights, match="damaged on the way"):
            node.load(version.digest, "object", fetch(damaged(version.content)))


def test_a_process_that_was_killed_while_it_checked_blocks_nobody(tmp_path: Path) -> None:
    node, version = NodeWeights("node", tmp_path), packed(tmp_path, 1)
    node.folder.mkdir(mode=0o700)
    with process(CHECKER, str(node.folder / "lock")) as checker:
        checker.send_signal(signal.SIGKILL)
        checker.wait(LONG)
        weights = node.load(version.digest, "object", fetch(version.content))
    assert float(weights["layer"][0, 0]) == 1.0


def test_a_newer_version_takes_the_place_of_one_that_is_still_mapped(tmp_path: Path) -> None:
    node = NodeWeights("node", tmp_path)
    one = packed(tmp_path, 1)
    mapped = node.load(one.digest, "one", fetch(one.content))
    two = packed(tmp_path, 2)
    newer = node.load(two.digest, "two", fetch(two.content))
    assert [path.stem for path in node.folder.glob("*.checked")] == ["two"]
    node.close()
    assert not node.folder.exists()
    assert (float(mapped["layer"][0, 0]), float(newer["layer"][0, 0])) == (1.0, 2.0)


def test_memory_and_locks_go_with_the_last_tensor(tmp_path: Path) -> None:
    node, fetched = NodeWeights("node", tmp_path), list[weakref.ref[NDArray[np.uint8]]]()
    kept, opened = torch.empty(0), list[int]()
    for version in range(20):
        each = packed(tmp_path, version)

        def noted(content: bytes = each.content) -> NDArray[np.uint8]:
            array = fetch(content)()
            fetched.append(weakref.ref(array))
            return array

        kept = node.load(each.digest, str(version), noted)["layer"]
        opened.append(len(open_files(node.folder)))
    assert [reference() is not None for reference in fetched] == [False] * 19 + [True]
    assert opened == [1] * 20
    assert float(kept[0, 0]) == 19.0


def test_without_a_folder_for_locks_each_checks_for_itself(tmp_path: Path) -> None:
    version = packed(tmp_path, 3)
    node = NodeWeights("node", tmp_path / "missing")
    weights = node.load(version.digest, "object", fetch(version.content))
    assert float(weights["layer"][0, 0]) == 3.0
    with pytest.raises(CorruptWeights, match="damaged on the way"):
        node.load(version.digest, "object", fetch(damaged(version.content)))


def test_a_link_that_somebody_made_before_us_is_not_followed(tmp_path: Path) -> None:
    """Else files that it leads to would be taken for older markers, and removed."""
    version, node = packed(tmp_path, 4), NodeWeights("node", tmp_path)
    (tmp_path / "models").mkdir(mode=0o700)
    (tmp_path / "models" / "model.checked").touch()
    node.folder.symlink_to(tmp_path / "models")
    weights = node.load(version.digest, "object", fetch(version.content))
    assert float(weights["layer"][0, 0]) == 4.0
    node.close()
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["model.checked"]


def test_a_fetch_that_takes_too_long_is_not_tried_twice(tmp_path: Path) -> None:
    tries = []

    def late() -> NDArray[np.uint8]:
        tries.append(1)
        raise TimeoutError("not there in time")

    with pytest.raises(TimeoutError):
        NodeWeights("node", tmp_path).load("0" * 32, "object", late)
    assert len(tries) == 1
