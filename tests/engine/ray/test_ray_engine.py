"""What the command that owns a run on a cluster says; whole runs are in the other files here."""

from __future__ import annotations

import pytest

pytest.importorskip("ray")
from distrl.engine.ray.learner_actor import RemoteView, RunSnapshot
from distrl.engine.ray.ray_engine import placement_words
from distrl.engine.supervision.collector_registry import CollectorInfo


def snapshot(*places: str) -> RunSnapshot:
    infos = [CollectorInfo(f"collector-{n}.1", n, place) for n, place in enumerate(places)]
    return RunSnapshot(RemoteView().since(None), "head/aa", tuple(infos), ())


def test_where_everything_is_fits_on_a_line() -> None:
    words = placement_words(snapshot("b/1", "a/2", "b/1"))
    assert words == "learner head/aa · collectors a/2 x 1, b/1 x 2"
    assert placement_words(snapshot()) == "learner head/aa · collectors none yet"
    assert placement_words(snapshot("a/2"), "a/2 (batch 3.0)").endswith(
        "· policy servers a/2 (batch 3.0)"
    )
