"""Weights that are offered, fetched and found ready; the objects themselves need a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("ray")

from tests.engine.ray.small_cluster import SmallCluster
from tests.episodes.made_up_collectors import wait_until

from distrl.engine.ray.weight_broadcast import WeightBroadcast, WeightReceiver, WeightRef
from distrl.weights.weight_store import WeightStore

LONG = 30.0  # seconds that no test takes


def weights(value: float) -> dict[str, torch.Tensor]:
    return {"layer": torch.full((2, 3), value)}


def unfetched(version: int) -> WeightRef:
    """An offer of which nothing is fetched, as far as a receiver is right."""
    nothing: Any = ()
    return WeightRef(version, "", nothing)


# Without a cluster --------------------------------------------------------------------------------


def test_before_the_first_version_nothing_is_offered(tmp_path: Path) -> None:
    broadcast = WeightBroadcast(WeightStore(tmp_path))
    broadcast.send_latest()
    assert broadcast.newer_than(-1) is None


def test_a_receiver_without_an_offer_has_nothing() -> None:
    receiver = WeightReceiver()
    receiver.offer(None)
    assert (receiver.version, receiver.newer_than(-1)) == (-1, None)


@pytest.fixture
def beside() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as threads:
        yield threads


def test_what_is_not_newer_is_not_fetched(beside: ThreadPoolExecutor) -> None:
    receiver, asked = WeightReceiver(), iter([True, True, False])
    receiver.version = 4
    receiver.offer(unfetched(4))  # to fetch it would raise
    beside.submit(receiver.fetch_all, lambda: next(asked)).result(LONG)
    assert (receiver.version, receiver.newer_than(-1)) == (4, None)


def test_fetching_ends_with_the_run_though_nothing_is_offered(beside: ThreadPoolExecutor) -> None:
    asked = iter([True, True, False])
    beside.submit(WeightReceiver().fetch_all, lambda: next(asked)).result(LONG)
    assert list(asked) == []


# On a cluster -------------------------------------------------------------------------------------


@pytest.mark.ray
@pytest.mark.usefixtures("cluster")
def test_what_is_published_is_durable_first_and_then_offered(tmp_path: Path) -> None:
    store = WeightStore(tmp_path)
    broadcast = WeightBroadcast(store)
    broadcast.publish(weights(1.0), 1)
    assert store.latest_version() == 1
    offer = broadcast.newer_than(0)
    assert offer is not None
    assert offer.version == 1
    assert broadcast.newer_than(1) is None
    broadcast.send_latest()
    assert broadcast.newer_than(0) is offer  # the same version is not put there twice
    broadcast.publish(weights(2.0), 2)
    newer = broadcast.newer_than(1)
    assert newer is not None
    assert newer.version == 2


@pytest.mark.ray
@pytest.mark.usefixtures("cluster")
def test_what_was_published_before_a_restart_is_offered_again(tmp_path: Path) -> None:
    WeightStore(tmp_path).publish(weights(3.0), 7)
    broadcast, receiver = WeightBroadcast(WeightStore(tmp_path)), WeightReceiver()
    broadcast.send_latest()
    offer = broadcast.newer_than(receiver.version)
    assert offer is not None
    receiver.fetch(offer)
    assert receiver.version == 7
    found = receiver.newer_than(6)
    assert found is not None
    assert found[1] == 7
    assert torch.equal(found[0]["layer"], weights(3.0)["layer"])
    assert receiver.newer_than(7) is None


@pytest.mark.ray
def test_damaged_bytes_are_passed_over_and_the_next_offer_is_taken(
    cluster: SmallCluster, tmp_path: Path
) -> None:
    assert cluster.address
    broadcast, receiver = WeightBroadcast(WeightStore(tmp_path)), WeightReceiver()
    broadcast.publish(weights(1.0), 1)
    offer = broadcast.newer_than(0)
    assert offer is not None
    receiver.fetch(WeightRef(offer.version, "0" * 32, offer.content))
    assert (receiver.version, receiver.newer_than(-1)) == (-1, None)
    receiver.fetch(offer)
    assert receiver.version == 1


@pytest.mark.ray
@pytest.mark.usefixtures("cluster")
def test_a_thread_fetches_the_newest_of_what_is_offered(
    tmp_path: Path, beside: ThreadPoolExecutor
) -> None:
    broadcast, receiver = WeightBroadcast(WeightStore(tmp_path)), WeightReceiver()
    fetching = beside.submit(receiver.fetch_all, lambda: receiver.version < 2)
    for version in (1, 2):
        broadcast.publish(weights(float(version)), version)
        receiver.offer(broadcast.newer_than(receiver.version))
    fetching.result(LONG)
    found = receiver.newer_than(1)
    assert found is not None
    assert found[1] == 2
    assert torch.equal(found[0]["layer"], weights(2.0)["layer"])


@pytest.mark.ray
@pytest.mark.usefixtures("cluster")
def test_versions_that_the_policy_has_leave_the_object_store(tmp_path: Path) -> None:
    """Also where the last is still in use; tensors that keep their memory would keep it all."""
    broadcast, receiver = WeightBroadcast(WeightStore(tmp_path)), WeightReceiver()
    wait_until(lambda: objects_stored() == 0)  # what other tests had is released a moment later
    used: Any = None
    for version in range(6):
        broadcast.publish({"layer": torch.full((500_000,), float(version))}, version)
        offer = broadcast.newer_than(receiver.version)
        assert offer is not None
        receiver.fetch(offer)
        found = receiver.newer_than(version - 1)
        assert found is not None
        used = found[0]["layer"]
        assert receiver.newer_than(version) is None  # the policy has it
        del offer, found
    wait_until(lambda: objects_stored() == 1)
    broadcast.publish({"layer": torch.zeros(1)}, 6)
    assert float(used[-1]) == 5.0
    wait_until(lambda: objects_stored() == 2)
    del used
    wait_until(lambda: objects_stored() == 1)


def objects_stored() -> int:
    """In the shared memory of the head, by its own account."""
    import ray
    from ray._private.internal_api import node_stats

    (head,) = (node for node in ray.nodes() if node["Alive"])
    stats = node_stats(
        head["NodeManagerAddress"], head["NodeManagerPort"], include_memory_info=False
    )
    return int(stats.store_stats.num_local_objects)
