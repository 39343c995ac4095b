"""Weights that the processes of a node share: fetched and checked by the first, mapped by all."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from distrl.engine.ray.node_weights import NodeWeights
from distrl.errors import CorruptWeights
from distrl.weights.weight_store import PackedWeights, WeightStore


def packed(folder: Path, version: int) -> PackedWeights:
    store = WeightStore(folder / "published")
    store.publish({"layer": torch.full((2, 3), float(version))}, version)
    found = store.packed()
    assert found is not None
    return found


class Sent:
    """The bytes of a version, which says how often they were fetched."""

    def __init__(self, content: bytes) -> None:
        self.content = np.frombuffer(content, np.uint8)
        self.fetched = 0

    def __call__(self) -> NDArray[np.uint8]:
        self.fetched += 1
        return self.content


def test_of_many_that_want_a_version_at_once_one_fetches_it(tmp_path: Path) -> None:
    version, begin = packed(tmp_path, 1), threading.Barrier(4)
    sent = Sent(version.content)

    def load(number: int) -> float:
        begin.wait(60.0)
        weights = NodeWeights("node", tmp_path).load(version.digest, sent)
        return float(weights["layer"].sum()) + number

    with ThreadPoolExecutor(4) as processes:
        assert list(processes.map(load, range(4))) == [6.0, 7.0, 8.0, 9.0]
    assert sent.fetched == 1


def test_a_newer_version_takes_the_place_of_one_that_is_still_mapped(tmp_path: Path) -> None:
    node = NodeWeights("node", tmp_path)
    one = packed(tmp_path, 1)
    mapped = node.load(one.digest, Sent(one.content))
    two = packed(tmp_path, 2)
    newer = node.load(two.digest, Sent(two.content))
    assert [path.stem for path in node.folder.glob("*.safetensors")] == [two.digest]
    node.close()
    assert not node.folder.exists()
    assert (float(mapped["layer"][0, 0]), float(newer["layer"][0, 0])) == (1.0, 2.0)


def test_damaged_bytes_become_no_file_and_the_next_that_asks_fetches_again(tmp_path: Path) -> None:
    node, version = NodeWeights("node", tmp_path), packed(tmp_path, 1)
    damaged = Sent(version.content[:-1] + b"\0")
    with pytest.raises(CorruptWeights, match="damaged on the way"):
        node.load(version.digest, damaged)
    whole = Sent(version.content)
    node.load(version.digest, whole)
    assert (damaged.fetched, whole.fetched) == (1, 1)


def test_without_room_for_the_file_each_has_its_own_copy(tmp_path: Path) -> None:
    version = packed(tmp_path, 3)
    node = NodeWeights("node", tmp_path / "missing")
    weights = node.load(version.digest, Sent(version.content))
    assert float(weights["layer"][0, 0]) == 3.0


def test_a_link_that_somebody_made_before_us_is_not_followed(tmp_path: Path) -> None:
    """Else the models that it leads to would be taken for older weights, and removed."""
    version, node = packed(tmp_path, 4), NodeWeights("node", tmp_path)
    (tmp_path / "models").mkdir(mode=0o700)
    (tmp_path / "models" / "model.safetensors").touch()
    node.folder.symlink_to(tmp_path / "models")
    weights = node.load(version.digest, Sent(version.content))
    assert float(weights["layer"][0, 0]) == 4.0
    node.close()
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["model.safetensors"]


def test_a_fetch_that_takes_too_long_is_not_tried_twice(tmp_path: Path) -> None:
    tries = []

    def late() -> NDArray[np.uint8]:
        tries.append(1)
        raise TimeoutError("not there in time")

    with pytest.raises(TimeoutError):
        NodeWeights("node", tmp_path).load("0" * 32, late)
    assert len(tries) == 1
