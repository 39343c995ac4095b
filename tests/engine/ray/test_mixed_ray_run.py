"""Collectors of two environments on a real cluster, and one learner for both."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console
from tests.engine.tiny_runs import mixed_config

import distrl
from distrl.json_lines import read_lines
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine, Point

pytest.importorskip("ray")
from distrl.engine.ray.placement import Node, collector_options
from distrl.engine.ray.ray_engine import RayEngine

HEAD = Node("aa", "head/aa", {"CPU": 2.0})
PHONES = Node("bb", "phones/bb", {"CPU": 2.0, "phone": 4.0})


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_run_on_a_cluster_trains_on_both(tmp_path: Path, model: Path) -> None:
    config = mixed_config(tmp_path, model, "engine.kind=ray")
    counts: Counter[str] = Counter()

    def have_played(_: Point) -> bool:
        [run] = (tmp_path / "runs").iterdir()
        counts.clear()
        counts.update(line.environment for line in read_lines(run / "episodes.jsonl", EpisodeLine))
        return all(counts[name] >= 2 for name in config.environments)

    begun = distrl.train(config, on_metrics=have_played, quiet=True)
    assert begun.result is None  # it was stopped
    updates = max(point.updates for point in begun.metrics())
    ended = distrl.resume(begun, [f"run.updates={updates + 1}"], quiet=True)
    run = RunDirectory(ended.directory)
    places = {
        (line.environment, line.id.partition(".")[0], line.template)
        for line in read_lines(run.episodes, EpisodeLine)
    }
    assert places == {
        ("small", "collector-0", "clock.turn_off_alarm"),
        ("tall", "collector-1", "clock.delete_alarm"),
    }
    found = json.loads(run.result.read_text())["success_by_environment"]
    assert {name: each["gain"]["tasks"] for name, each in found.items()} == {"small": 1, "tall": 1}


def test_only_phones_that_are_somewhere_take_phones_of_a_node(tmp_path: Path) -> None:
    adb = ["environments.tall.devices.kind=adb", "environments.tall.devices.count=3"]
    config = mixed_config(tmp_path, tmp_path, *adb, "environments.tall.collectors=2")
    small, first, second = (collector_options(config, [HEAD, PHONES], n) for n in range(3))
    assert "resources" not in small
    assert small["num_cpus"] == 1.0
    assert [each["resources"] for each in (first, second)] == [{"phone": 2}, {"phone": 1}]
    named = mixed_config(tmp_path, tmp_path, *adb, "engine.phones=handset", "engine.kind=ray")
    engine = RayEngine(named, RunDirectory(tmp_path / "run"), Console(quiet=True))
    assert engine._needs() == {"handset": 3.0}
