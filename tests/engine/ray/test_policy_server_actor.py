"""A run whose collectors have no policy: one server on each node decides for all of its phones.

One of the servers is killed on the way. The run ends by itself, and nothing that was acknowledged
is lost; what was decided after it says by which weights.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.engine.ray.model_free_collectors import ModelFreeBuild, ModelLosingBuild
from tests.engine.ray.small_cluster import SmallCluster, kill
from tests.engine.tiny_runs import tiny_config

from distrl.cli.train import new_directory
from distrl.errors import PolicyServerGone
from distrl.json_lines import read_lines
from distrl.records import Trajectory
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.runs.metrics import read_points
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine, RunResult

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(1500)]
NODES, COLLECTORS, PHONES, UPDATES = 2, 4, 8, 120
PATIENCE = 120.0
SETTINGS = (
    "engine.policy=node",
    f"run.updates={UPDATES}",
    "run.minutes=20",
    f"devices.count={PHONES}",
    f"collection.collectors={COLLECTORS}",
    "devices.latency=paper_emulator",
    "devices.clock=scaled",
    "devices.clock_speed=50",
    "pacing.samples_per_insert=2",
    "pacing.tolerance=4",
    "evaluation.before=0",
    "evaluation.after=0",
)


@dataclass
class ServedRun:
    """A run on two nodes, and what became of it."""

    run: RunDirectory
    cluster: SmallCluster
    said: StringIO
    result: RunResult | None = None
    killed: list[int] = field(default_factory=list)
    killed_at: int = 0  # trajectories that were acknowledged before
    version_then: int = UPDATES  # of the learner's weights
    over: threading.Event = field(default_factory=threading.Event)

    def updates(self) -> int:
        return max((point.updates for point in read_points(self.run.metrics)), default=0)

    def harm(self) -> None:
        """Kill a server, once both are known to decide; not at all if the run ends before."""
        self.wait_for(lambda: self.said.getvalue().count("decides on the CPU") == NODES)
        self.wait_for(lambda: self.run.metrics.is_file() and self.updates() >= 5)
        if self.over.is_set():
            return
        self.killed_at, self.version_then = len(self.cluster.acknowledged()), self.updates()
        self.killed += self.cluster.pids("RayPolicyServer")[:1]
        for pid in self.killed:
            kill(pid)

    def wait_for(self, what: Callable[[], bool]) -> None:
        while not what() and not self.over.wait(0.1):
            pass

    def trajectories(self) -> list[Trajectory]:
        return [each.trajectory for each in TrajectoryReader(self.run.trajectories).read()]


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, model: Path, cluster: SmallCluster
) -> Iterator[ServedRun]:
    from distrl.engine.ray.ray_engine import RayEngine

    for _ in range(NODES):
        cluster.add(phones=PHONES / NODES)
    config = tiny_config(tmp_path_factory.mktemp("served"), model, *SETTINGS)
    seen = ServedRun(new_directory(config), cluster, StringIO())
    harm = threading.Thread(target=seen.harm)
    harm.start()
    build = ModelFreeBuild(config, str(seen.run.path.absolute()))
    try:
        seen.result = RayEngine(config, seen.run, Console(file=seen.said, width=400), build).train()
        seen.over.set()
        harm.join(PATIENCE)
        yield seen
    finally:
        seen.over.set()
        cluster.remove_all()


def test_the_run_ends_by_itself_though_a_server_was_killed(served: ServedRun) -> None:
    said = served.said.getvalue()
    assert served.result is not None, said[-3000:]
    assert served.result.updates == UPDATES
    assert len(served.killed) == 1
    started = re.findall(r"(server-\d)\.(\d) is on (\S+), and decides on the CPU", said)
    assert sorted(start for _, start, _ in started) == ["1", "1", "2"], said[-3000:]
    assert len({place for _, _, place in started}) == NODES  # it came back where it was
    assert "was lost (ActorDiedError)" in said
    assert "opened" not in said  # no collector has a model
    assert "is gone" not in said, said[-6000:]  # and none was lost with the server
    assert served.cluster.pids("RayPolicyServer") == []


def test_nothing_acknowledged_is_lost_and_nothing_mislabelled(served: ServedRun) -> None:
    told, trajectories = served.cluster.acknowledged(), served.trajectories()
    stored = [each.id for each in trajectories]
    noted = [line.id for line in read_lines(served.run.episodes, EpisodeLine)]
    assert len(told) == len(set(told)) > served.killed_at > 0
    assert set(told) <= set(stored)
    assert sorted(noted) == sorted(stored)
    assert len(stored) == len(set(stored))
    assert {each.split("/")[0] for each in told} == {f"collector-{n}.1" for n in range(COLLECTORS)}
    assert all(each.ending.judged for each in trajectories)


def test_decisions_say_which_weights_made_them_and_these_are_ever_newer(served: ServedRun) -> None:
    newest: dict[str, int] = {}
    for trajectory in served.trajectories():
        versions = [decision.weight_version for decision in trajectory.decisions]
        assert versions == sorted(versions)
        collector = trajectory.id.split("/")[0]
        newest[collector] = max(versions[-1], newest.get(collector, 0))
    assert len(newest) == COLLECTORS
    assert min(newest.values()) > served.version_then  # also where the server was killed


def test_a_server_decides_for_several_collectors_at_once(served: ServedRun) -> None:
    points = [p for p in read_points(served.run.metrics) if p.series == "collection"]
    decisions, batches = (points[-1].figures[name] or 0.0 for name in ("decisions", "batches"))
    assert decisions > batches  # by how much is a matter of the machine's speed
    shown = re.findall(
        r"policy servers (\S+) \(batch ([\d.]+)\), (\S+) \(batch", served.said.getvalue()
    )
    assert shown
    assert max(float(batch) for _, batch, _ in shown) > 1.0


def test_a_run_whose_servers_all_fail_ends_with_what_the_last_one_said(
    tmp_path: Path, model: Path, nodes: SmallCluster
) -> None:
    from distrl.engine.ray.ray_engine import RayEngine

    nodes.add(phones=2)
    copy = shutil.copytree(model, tmp_path / "model")
    config = tiny_config(tmp_path, copy, "engine.policy=node", "collection.restarts=0")
    run, said = new_directory(config), StringIO()
    build = ModelLosingBuild(config, str(run.path.absolute()))
    with pytest.raises(PolicyServerGone, match=r"all policy servers \(1\) failed.*NotAModel"):
        RayEngine(config, run, Console(file=said, width=400), build).train()
    assert "server-0.1 on" in said.getvalue()
    assert list(TrajectoryReader(run.trajectories).read()) == []
