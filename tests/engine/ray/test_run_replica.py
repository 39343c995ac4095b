"""Where a copy of a run is kept, and what happens when it cannot be."""

from __future__ import annotations

import errno

import pytest

pytest.importorskip("ray")

from distrl.engine.ray.placement import Node
from distrl.engine.ray.run_replica import MAX_PAUSE_SECONDS, PAUSE_SECONDS, ReplicaPool
from distrl.errors import storage_error
from distrl.replay.store.trajectory_store import TrajectoryStoreSettings

HOME = Node("1", "home/1", {}, "anna", "10.0.0.1")
BERTIL = Node("2", "there/2", {}, "bertil", "10.0.0.2")
CECILIA = Node("3", "there/3", {}, "cecilia", "10.0.0.3")
WANTED = 7 * 2**30
NODES = (HOME, BERTIL, CECILIA)
FULL = storage_error(OSError(errno.ENOSPC, "No space left on device"), "copying the run")


def pool(said: list[str]) -> ReplicaPool:
    return ReplicaPool("/runs/one", TrajectoryStoreSettings(), None, HOME, said.append, WANTED)


def test_a_machine_whose_disk_was_full_is_tried_again_after_pauses_that_grow() -> None:
    said: list[str] = []
    replicas, now, pauses = pool(said), 100.0, []
    for _ in range(9):
        assert replicas.choose((HOME, BERTIL), "1", now) == BERTIL
        replicas.failed(BERTIL, FULL, now)
        began = now
        while replicas.choose((HOME, BERTIL), "1", now) is None:
            now += 1.0
        pauses.append(now - began)
    assert pauses[:3] == [PAUSE_SECONDS, 2 * PAUSE_SECONDS, 4 * PAUSE_SECONDS]
    assert pauses[-1] == MAX_PAUSE_SECONDS
    assert "bertil: copying the run: No space left on device" in said[0]
    assert "tried again in 10 s" in said[0]
    replicas.completed(BERTIL)
    replicas.failed(BERTIL, FULL, now)
    assert replicas.choose((HOME, BERTIL), "1", now + PAUSE_SECONDS) == BERTIL


def test_another_machine_is_taken_while_one_is_full() -> None:
    replicas = pool([])
    assert replicas.choose(NODES, BERTIL.id, 0.0) == BERTIL
    replicas.failed(BERTIL, FULL, 0.0)
    assert replicas.choose(NODES, BERTIL.id, 0.0) == CECILIA


def test_a_copy_on_a_machine_that_is_gone_is_offered_no_more() -> None:
    said: list[str] = []
    replicas = pool(said)
    replicas.completed(BERTIL)
    replicas.failed(BERTIL, FULL, 0.0)  # what was complete stays
    replicas.forget_lost_host({each.address for each in NODES})
    assert str(replicas.host) == "bertil (10.0.0.2)"
    replicas.forget_lost_host({HOME.address, CECILIA.address})
    assert str(replicas.host) == "None"
    assert "bertil (10.0.0.2), is gone" in said[-1]
    replicas.completed(CECILIA)
    assert str(replicas.host) == "cecilia (10.0.0.3)"


def test_a_disk_that_may_not_hold_the_copy_is_said_once() -> None:
    said: list[str] = []
    replicas = pool(said)
    replicas.look_at_disk(BERTIL, 8 * 2**30)
    assert said == []
    for _ in range(2):
        replicas.look_at_disk(BERTIL, 6 * 2**30)
    [words] = said
    assert "up to 7.00 GB on bertil, where 6.00 GB are free at /runs/one" in words
