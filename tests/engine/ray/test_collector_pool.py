"""What the owner of collector actors does before there are any; no cluster is needed for that."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("ray")

from tests.engine.ray.cheap_collectors import CheapBuild
from tests.engine.tiny_runs import tiny_config

from distrl.engine.ray.collector_pool import RayCollectorPool
from distrl.engine.ray.learner_actor import RemoteView, RunSnapshot
from distrl.engine.supervision.collector_registry import CollectorInfo


def pool(folder: Path, said: list[str], *settings: str) -> RayCollectorPool:
    config = tiny_config(folder, folder, "collection.collectors=2", *settings)
    return RayCollectorPool(config, str(folder), None, CheapBuild(folder), said.append)


def test_a_run_that_learns_from_a_corpus_alone_starts_no_collector(tmp_path: Path) -> None:
    said: list[str] = []
    made = pool(tmp_path, said, "learning.learner.mode=offline", "learning.corpus=corpus")
    for now in (0.0, 1e6):
        made.look_after(now)  # to start one would need a cluster
    assert (made.waited_for(), made.server_words(), made.failure) == ([], "", None)
    made.kill()
    assert said == []


def test_one_that_is_unresponsive_and_has_ended_by_now_is_not_killed(tmp_path: Path) -> None:
    said: list[str] = []
    made = pool(tmp_path, said)
    info = CollectorInfo("collector-1.1", 1, "a/1")
    trouble = ((info, "was silent for 60 s"),)
    made.apply(RunSnapshot(RemoteView().since(None), "head/aa", (info,), trouble))
    assert (made.waited_for(), said) == ([], [])


def test_after_the_end_nothing_is_started_any_more(tmp_path: Path) -> None:
    said: list[str] = []
    made = pool(tmp_path, said)
    made.kill()
    made.look_after(1e6)
    assert (made.waited_for(), said) == ([], [])
