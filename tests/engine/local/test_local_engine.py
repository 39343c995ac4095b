"""Collecting on one machine without a learner; runs that learn are in `tests/engine`."""

from __future__ import annotations

import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console
from tests.engine.aitw_files import aitw_settings
from tests.engine.local.process_facts import forked_by_us
from tests.engine.tiny_runs import tiny_config

from distrl.engine.local.local_engine import LocalEngine
from distrl.engine.run.stop_request import SIGNALS
from distrl.errors import DirectoryInUse, DistrlError, InvalidSetting, NotAModel, StorageFull
from distrl.json_lines import read_lines
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine

QUIET = Console(quiet=True)


def engine_for(folder: Path, model: Path, *overrides: str) -> LocalEngine:
    config = tiny_config(folder, model, *overrides)
    run = RunDirectory.new(folder / "runs", "local", datetime(2026, 1, 1, tzinfo=UTC))
    run.write_config(config)
    return LocalEngine(config, run, QUIET)


@pytest.mark.parametrize(
    ("setting", "error", "said"),
    [
        ("agent.model=/no/such/model", NotAModel, "there is no directory /no/such/model"),
        ("agent.policy.device=toaster", InvalidSetting, "toaster.*give cpu"),
        ("run.free_gigabytes=1e6", StorageFull, "free_gigabytes wants"),
    ],
)
def test_what_cannot_be_collected_is_said_before_anything_is_made(
    tmp_path: Path, model: Path, setting: str, error: type[DistrlError], said: str
) -> None:
    engine = engine_for(tmp_path, model, setting)
    handlers = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(error, match=said):
        engine.collect()
    assert not engine.directory.trajectories.exists()
    assert not engine.directory.episodes.exists()
    assert [signal.getsignal(number) for number in SIGNALS] == handlers
    with engine.directory.held():
        pass  # it is free again


def test_tasks_that_cannot_be_read_are_said_before_anything_is_made(
    tmp_path: Path, model: Path
) -> None:
    judge = ("judge.kind=vlm", "judge.server=http://127.0.0.1:9/v1", "judge.model=judge")
    engine = engine_for(tmp_path, model, *aitw_settings(tmp_path), *judge)
    (tmp_path / "train.txt").unlink()
    with pytest.raises(InvalidSetting, match=r"train\.txt.*name a text file"):
        engine.collect()
    assert not engine.directory.trajectories.exists()


def test_nothing_is_collected_into_a_directory_in_use(tmp_path: Path, model: Path) -> None:
    engine = engine_for(tmp_path, model)
    with engine.directory.held(), pytest.raises(DirectoryInUse, match="is in use: process"):
        engine.collect()
    assert not engine.directory.trajectories.exists()


@pytest.mark.slow
def test_what_is_collected_is_stored_and_logged_and_nobody_is_left(
    tmp_path: Path, model: Path
) -> None:
    engine = engine_for(tmp_path, model, "run.trajectories=3", "collection.collectors=1")
    count = engine.collect()
    run = engine.directory
    stored = [each.trajectory.id for each in TrajectoryReader(run.trajectories).read()]
    assert len(stored) == len(set(stored)) == count >= 3
    lines = read_lines(run.episodes, EpisodeLine)
    assert sorted(line.id for line in lines) == sorted(stored)
    assert all(line.id.startswith("collector-0.1/") for line in lines)
    assert {line.weight_version for line in lines} == {0}  # nobody learns
    assert not run.result.exists()
    assert forked_by_us("collector") == []
