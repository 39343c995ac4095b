"""A run on a real cluster, to which everything happens that can happen to one on the way.

Its nodes come and go, its learner is killed twice, somebody stops it and resumes it; it ends by
itself, and nothing that was acknowledged is lost or counted twice.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.engine.ray.small_cluster import SmallCluster, kill
from tests.engine.tiny_runs import command, start

from distrl.json_lines import read_lines
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.runs.metrics import read_points
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine, Point

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(900)]
PATIENCE = 600.0  # seconds; a busy machine needs minutes, a hang would need for ever
UPDATES = 240  # enough to last until everything has happened
SETTINGS = (
    f"run.updates={UPDATES}",
    "run.minutes=20",
    "devices.count=6",
    "collection.collectors=3",
    "evaluation.before=0",
    "devices.latency=paper_emulator",
    "devices.clock=scaled",
    "devices.clock_speed=25",  # a trajectory or two in a second, from all of them
    "pacing.samples_per_insert=2",
    "pacing.tolerance=4",
)


@dataclass
class Ordeal:
    """A run that goes through all of it, as a command that a person would type."""

    run: RunDirectory
    cluster: SmallCluster
    program: list[str]
    process: subprocess.Popen[bytes]
    log: Path
    joined_seconds: float = 0.0  # from a new node to the first trajectory from it
    updates_then: int = 0  # when that node joined
    stopped_code: int | None = None
    code: int | None = None

    @property
    def said(self) -> str:
        return self.log.read_text()

    def updates(self) -> int:
        return max((point.updates for point in read_points(self.run.metrics)), default=0)

    def from_collector(self, number: int, start: int) -> bool:
        """Did that one bring a trajectory?"""
        name = f"collector-{number}.{start}/"
        return any(each.startswith(name) for each in self.cluster.acknowledged())

    def starts(self, number: int) -> int:
        return len(list((self.run.path / "logs").glob(f"collector-{number}.*.log")))

    def wait_for(self, what: Callable[[], object]) -> None:
        until = time.monotonic() + PATIENCE
        while not what():
            assert self.process.poll() is None, self.said[-3000:]
            assert time.monotonic() < until, self.said[-3000:]
            time.sleep(0.1)

    def happen(self) -> None:
        """Everything, one after the other."""
        self._nodes_come_and_go()
        for _ in range(2):
            before = self.updates()
            [learner] = self.cluster.pids("RayLearner")
            kill(learner)
            self.wait_for(lambda: self.updates() > before + 1)  # noqa: B023
        self.process.terminate()
        self.stopped_code = self.process.wait(PATIENCE)
        resume = [*self.program, "train", "--resume", str(self.run.path)]
        self.process = start(resume, self.log)
        self.code = self.process.wait(PATIENCE)

    def _nodes_come_and_go(self) -> None:
        self.wait_for(lambda: self.from_collector(0, 1) and self.from_collector(1, 1))
        assert self.starts(2) == 0  # there is no room for it
        self.wait_for(lambda: self.updates() > 0)
        self.updates_then = self.updates()
        third, joined = self.cluster.add(phones=2), time.monotonic()
        self.wait_for(lambda: self.from_collector(2, 1))
        self.joined_seconds = time.monotonic() - joined
        self.cluster.kill(third)
        self.cluster.add(phones=2)
        self.wait_for(lambda: self.from_collector(2, 2))


@pytest.fixture(scope="module")
def ordeal(
    tmp_path_factory: pytest.TempPathFactory, model: Path, cluster: SmallCluster
) -> Iterator[Ordeal]:
    for _ in range(2):
        cluster.add(phones=2)
    folder = tmp_path_factory.mktemp("ordeal")
    engine = ("--engine", "ray", "--address", cluster.address)
    words = [*command(folder, model, *SETTINGS), *engine]
    process = start(words, folder / "log")
    try:
        until = time.monotonic() + PATIENCE
        while not list(folder.glob("runs/*/config.toml")):
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < until
            time.sleep(0.1)
        [path] = folder.glob("runs/*")
        seen = Ordeal(RunDirectory(path), cluster, words[:3], process, folder / "log")
        try:
            seen.happen()
        finally:
            process = seen.process
        yield seen
    finally:
        process.kill()
        process.wait()
        cluster.remove_all()


def test_the_run_goes_on_through_all_of_it_and_ends_by_itself(ordeal: Ordeal) -> None:
    assert (ordeal.stopped_code, ordeal.code) == (130, 0), ordeal.said[-3000:]
    assert json.loads(ordeal.run.result.read_text())["updates"] == UPDATES
    assert ordeal.cluster.pids("RayCollector") == ordeal.cluster.pids("RayLearner") == []
    said = ordeal.said
    assert said.count("the learner is back on") == 2
    assert "collector-2.1 on" in said
    assert "is gone" in said
    assert ordeal.starts(0) == ordeal.starts(1) == 2  # only the stop had happened to these


def test_what_was_acknowledged_is_stored_once_and_counted_once(ordeal: Ordeal) -> None:
    told = [each for each in ordeal.cluster.acknowledged() if each.startswith("collector-")]
    stored = [each.trajectory.id for each in TrajectoryReader(ordeal.run.trajectories).read()]
    noted = [line.id for line in read_lines(ordeal.run.episodes, EpisodeLine)]
    assert len(told) == len(set(told)) > 10
    assert len(stored) == len(set(stored))
    assert set(told) <= set(stored)
    assert sorted(noted) == sorted(stored)
    assert json.loads(ordeal.run.result.read_text())["trajectories"] == len(stored)


def test_weights_reach_every_node_and_their_versions_only_grow(ordeal: Ordeal) -> None:
    newest: dict[str, int] = {}
    for stored in TrajectoryReader(ordeal.run.trajectories).read():
        trajectory = stored.trajectory
        collector, version = trajectory.id.split("/")[0], trajectory.weight_version
        newest[collector] = max(version, newest.get(collector, 0))
    for collector in ("collector-0.1", "collector-1.1", "collector-2.2", "collector-0.2"):
        assert newest[collector] > ordeal.updates_then
    points = [p for p in read_points(ordeal.run.metrics) if p.series == "learner"]
    versions = [p.figures["version"] or 0.0 for p in points]
    assert versions == sorted(versions)
    assert [p.updates for p in points] == list(range(1, UPDATES + 1))
    marks = [p for p in read_lines(ordeal.run.metrics, Point) if p.series == "resumed"]
    assert len(marks) == 3


def test_everybody_can_see_who_is_where(ordeal: Ordeal) -> None:
    lines = [line for line in ordeal.said.splitlines() if "· collectors " in line]
    places = {word for line in lines for word in line.split() if "/" in word and "min" not in word}
    assert len(places) >= 4  # the head, and those that had phones
