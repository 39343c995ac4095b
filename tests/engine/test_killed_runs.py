"""Real processes and real signals: nothing that was acknowledged is lost, nothing counts twice."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from tests.engine.tiny_runs import command, start

from distrl.json_lines import read_lines
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.runs.metrics import read_points
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine, Point

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]
PATIENCE = 400.0  # seconds for anything that a loaded machine may take


def wait_for(what: Callable[[], object], process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not what():
        assert process.poll() is None, log.read_text()[-3000:]
        assert time.monotonic() < until, log.read_text()[-3000:]
        time.sleep(0.05)


def descendants(pid: int) -> list[int]:
    """Its forkserver, what this has forked, and multiprocessing's resource tracker."""
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout
    children = [int(each) for each in found.split()]
    return children + [each for child in children for each in descendants(child)]


def collectors(pid: int) -> list[int]:
    return [each for each in descendants(pid) if name_of(each).startswith("collector-")]


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0]
    except FileNotFoundError:
        return False


def updates(run: RunDirectory) -> int:
    return max((p.updates for p in read_points(run.metrics)), default=0)


def acknowledged(run: RunDirectory) -> list[str]:
    """What collectors were told is stored, by their own logs."""
    logs = sorted((run.path / "logs").glob("*.log"))
    return [name for log in logs for name in re.findall(r"acknowledged (\S+)", log.read_text())]


@dataclass(frozen=True)
class Ordeal:
    """A run that went through all of it, and what was seen on the way."""

    run: RunDirectory
    lost_orphans: list[int]  # collectors that outlived a killed learner
    stopped_code: int
    after_stop: list[int]  # processes that outlived an orderly stop
    final_code: int
    log: Path


@pytest.fixture(scope="module")
def ordeal(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Ordeal:
    """A collector killed, then the learner; resumed, stopped by SIGTERM; resumed to its end."""
    folder = tmp_path_factory.mktemp("ordeal")
    log = folder / "log"
    paced = ("pacing.samples_per_insert=2", "pacing.tolerance=4")
    words = command(folder, model, "run.updates=40", "evaluation.before=0", *paced)
    process = start(words, log)
    wait_for(lambda: list(folder.glob("runs/*/config.toml")), process, log)
    [path] = folder.glob("runs/*")
    run = RunDirectory(path)
    wait_for(lambda: len(acknowledged(run)) >= 4 and updates(run) >= 2, process, log)
    [collector] = collectors(process.pid)
    os.kill(collector, signal.SIGKILL)
    second = path / "logs" / "collector-0.2.log"
    wait_for(lambda: second.exists() and "acknowledged" in second.read_text(), process, log)
    wait_for(lambda: list(run.checkpoints.glob("update-*")), process, log)
    survivors = descendants(process.pid)
    process.kill()
    process.wait()
    lost_orphans = still_there(survivors)

    resume = [*words[:3], "train", "--resume", str(path)]
    process = start(resume, log)
    before = updates(run)
    wait_for(lambda: updates(run) > before + 2, process, log)
    survivors = descendants(process.pid)
    process.terminate()
    stopped_code = process.wait(PATIENCE)
    after_stop = still_there(survivors)

    process = start(resume, log)
    final_code = process.wait(PATIENCE)
    return Ordeal(run, lost_orphans, stopped_code, after_stop, final_code, log)


def still_there(pids: list[int]) -> list[int]:
    """Wait for them to end; return those that do not."""
    until = time.monotonic() + PATIENCE
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    return [pid for pid in pids if alive(pid)]


def test_the_run_ends_by_itself_and_leaves_nobody_behind(ordeal: Ordeal) -> None:
    assert ordeal.final_code == 0, ordeal.log.read_text()[-3000:]
    assert ordeal.stopped_code == 130
    assert ordeal.lost_orphans == []
    assert ordeal.after_stop == []
    assert json.loads(ordeal.run.result.read_text())["updates"] == 40
    assert "collector-0.1 ended with code -9" in ordeal.log.read_text()


def test_what_was_acknowledged_is_stored_once_and_counted_once(ordeal: Ordeal) -> None:
    said = acknowledged(ordeal.run)
    stored = [each.trajectory.id for each in TrajectoryReader(ordeal.run.trajectories).read()]
    noted = [line.id for line in read_lines(ordeal.run.episodes, EpisodeLine)]
    assert len(said) == len(set(said)) > 10
    assert len(stored) == len(set(stored))
    assert set(said) <= set(stored)
    assert sorted(noted) == sorted(stored)
    assert json.loads(ordeal.run.result.read_text())["trajectories"] == len(stored)


def test_metrics_go_on_without_a_jump(ordeal: Ordeal) -> None:
    points = read_points(ordeal.run.metrics)
    assert [p.updates for p in points if p.series == "learner"] == list(range(1, 41))
    assert [p.seconds for p in points] == sorted(p.seconds for p in points)
    gaps = [b.seconds - a.seconds for a, b in pairwise(points)]
    assert max(gaps) < 30.0  # not the time that passed between the processes
    marks = [p for p in read_lines(ordeal.run.metrics, Point) if p.series == "resumed"]
    assert len(marks) == 2


def test_versions_only_grow(ordeal: Ordeal) -> None:
    points = [p for p in read_points(ordeal.run.metrics) if p.series == "learner"]
    versions = [p.figures["version"] or 0.0 for p in points]
    assert versions == sorted(versions)
    assert versions[-1] >= 40  # one for each update, and more for those that a kill has undone


def test_a_collector_that_hangs_is_replaced(tmp_path: Path, model: Path) -> None:
    log = tmp_path / "log"
    often = "collection.heartbeat_seconds=0.3"  # so that silence is noticed before a full socket
    words = command(tmp_path, model, "run.updates=1000", "evaluation.before=0", often)
    process = start(words, log)
    try:
        wait_for(lambda: list(tmp_path.glob("runs/*/logs/collector-0.1.log")), process, log)
        [run] = map(RunDirectory, tmp_path.glob("runs/*"))
        wait_for(lambda: len(acknowledged(run)) >= 1, process, log)
        [collector] = collectors(process.pid)
        os.kill(collector, signal.SIGSTOP)
        second = run.path / "logs" / "collector-0.2.log"
        wait_for(lambda: second.exists() and "acknowledged" in second.read_text(), process, log)
        assert not alive(collector)
        assert "collector-0.1 was silent for" in log.read_text()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
    assert process.returncode == 130


def test_a_second_control_c_ends_it_at_once(tmp_path: Path, model: Path) -> None:
    log = tmp_path / "log"
    process = start(command(tmp_path, model, "evaluation.before=100000"), log)
    wait_for(lambda: log.exists() and "evaluating before" in log.read_text(), process, log)
    wait_for(lambda: collectors(process.pid), process, log)
    survivors = descendants(process.pid)
    os.kill(process.pid, signal.SIGSTOP)  # so that both arrive before anything is done about one
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    os.kill(process.pid, signal.SIGCONT)
    assert process.wait(PATIENCE) not in (0, None)
    assert still_there(survivors) == []
    said = log.read_text()
    assert said.index("Ctrl-C once more stops at once") < said.index("\nstopping at once")
    assert "go on from the last checkpoint with: distrl train --resume" in said
