"""What the command that owns a run on a cluster says; whole runs are in the other files here."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.engine.tiny_runs import tiny_config

from distrl.errors import LearnerGone
from distrl.runs.run_directory import RunDirectory

pytest.importorskip("ray")
from distrl.engine.ray import ray_engine
from distrl.engine.ray.learner_actor import RemoteView, RunSnapshot
from distrl.engine.ray.placement import Node
from distrl.engine.ray.ray_engine import NODE_SECONDS, RayEngine, placement_words
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


def test_a_learner_whose_node_is_cut_off_is_waited_for_and_then_given_up_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, there = StringIO(), Node("aa", "gpu/aa", {}, "gpu", "10.0.0.2")
    config, run = tiny_config(tmp_path, tmp_path), RunDirectory(tmp_path / "run")
    engine = RayEngine(config, run, Console(file=said, width=200))
    alive = [there]
    monkeypatch.setattr(ray_engine, "alive_nodes", lambda: alive)  # what Ray says
    engine._node = there
    engine._check_node(0.0)
    alive.clear()
    engine._check_node(10.0)
    engine._check_node(20.0)
    assert said.getvalue().count("the learner's node gpu (10.0.0.2) is cut off; waiting 600 s") == 1
    alive.append(replace(there, id="bb"))  # it has joined again, as another node
    engine._check_node(10.0 + NODE_SECONDS)
    alive.clear()
    engine._check_node(5000.0)
    with pytest.raises(LearnerGone) as gone:
        engine._check_node(5001.0 + NODE_SECONDS)
    [sentence] = str(gone.value).splitlines()
    assert sentence.endswith(f"go on with distrl train --resume {run.path}")
