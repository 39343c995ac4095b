"""The whole circle in one process: repeatable bit by bit, and resumed without a jump."""

from __future__ import annotations

import json
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from tests.engine.tiny_runs import tiny_config

from distrl.cli.train import run_command
from distrl.engine.local.local_engine import LocalEngine
from distrl.engine.run.stop_request import StopRequested
from distrl.errors import (
    CorruptCheckpoint,
    DirectoryInUse,
    InvalidSetting,
    NotAModel,
    StorageError,
    StorageFull,
    UsageError,
)
from distrl.json_lines import read_lines
from distrl.learning.checkpoint import read_checkpoint
from distrl.runs.metrics import read_points
from distrl.runs.run_account import RunAccount
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine, Point

QUIET = Console(quiet=True)
ONE_PROCESS = "collection.mode=one_process"


def begin(folder: Path, model: Path, *overrides: str) -> LocalEngine:
    folder.mkdir(exist_ok=True)
    config = tiny_config(folder, model, ONE_PROCESS, *overrides)
    run = RunDirectory.new(folder / "runs", "one", datetime(2026, 1, 1, tzinfo=UTC))
    run.write_config(config)
    return LocalEngine(config, run, QUIET)


def learned(run: RunDirectory) -> dict[str, Any]:
    """What the newest checkpoint says about weights, optimisers, replay and counters."""
    [*_, newest] = sorted(run.checkpoints.iterdir())
    state: dict[str, Any] = read_checkpoint(newest)["learner"]
    return state


def figures(run: RunDirectory) -> list[tuple[int, dict[str, float | None]]]:
    """The learner's series, without what depends on the machine's speed, and without the watch,
    which knows no weights of an earlier process.
    """
    timed = ("seconds/", "watch/", "tokens_per_second", "model_tokens_per_second", "peak_share")
    return [
        (p.updates, {k: v for k, v in p.figures.items() if not k.startswith(timed)})
        for p in read_points(run.metrics)
        if p.series == "learner"
    ]


def assert_equal_trees(one: Any, other: Any, path: str = "") -> None:
    if isinstance(one, torch.Tensor):
        assert torch.equal(one, other), path
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), path
        for key, each in one.items():
            assert_equal_trees(each, other[key], f"{path}/{key}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), path
        for place, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_equal_trees(a, b, f"{path}/{place}")
    elif hasattr(one, "tolist"):
        assert one.tolist() == other.tolist(), path
    else:
        assert one == other, path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, model: Path) -> RunDirectory:
    """A run of four updates."""
    engine = begin(tmp_path_factory.mktemp("finished"), model, "run.updates=4")
    engine.train()
    return engine.directory


def test_a_run_leaves_all_that_was_promised(finished: RunDirectory) -> None:
    result = json.loads(finished.result.read_text())
    assert result["updates"] == 4
    assert result["trajectories"] == len(read_lines(finished.episodes, EpisodeLine)) >= 4
    for stage in ("success_before", "success_after"):
        assert 0.0 <= result[stage]["low"] <= result[stage]["high"] <= 1.0
    for shares in (result["phone_time"], result["learner_time"]):
        assert sum(shares.values()) == pytest.approx(1.0, abs=1e-3)
    assert 0.0 < result["training_s"] < result["wall_s"]  # which has the evaluations, too
    assert result["weights_moved"]
    assert result["gain"]["tasks"] == 1  # the same task before and after
    account = RunAccount.of(read_points(finished.metrics))
    again = {stage: round(share, 4) for stage, share in account.time.phones().items()}
    assert again == result["phone_time"]  # the report's figures, and the view's
    assert "<html" in finished.report.read_text()
    assert [updates for updates, _ in figures(finished)] == [1, 2, 3, 4]
    assert list(finished.tensorboard.iterdir())


@pytest.mark.slow
def test_the_same_settings_give_the_same_run_bit_by_bit(
    finished: RunDirectory, tmp_path: Path, model: Path
) -> None:
    again = begin(tmp_path, model, "run.updates=4")
    again.train()
    assert_equal_trees(learned(again.directory), learned(finished))
    assert figures(again.directory) == figures(finished)
    other = begin(tmp_path / "other", model, "run.updates=4", "run.seed=1")
    other.train()
    assert figures(other.directory) != figures(finished)


@pytest.mark.slow
def test_a_stopped_run_is_resumed_where_it_was(tmp_path: Path, model: Path) -> None:
    engine = begin(tmp_path, model, "run.updates=8")
    run = engine.directory
    with press_control_c_after(run, updates=2), pytest.raises(StopRequested):
        engine.train()
    updates = learned(run)["updates"]
    assert 2 <= updates < 8
    assert not run.result.exists()
    before = figures(run)
    LocalEngine(engine.config, run, QUIET).train(resumed=True)
    assert [number for number, _ in figures(run)] == list(range(1, 9))
    assert figures(run)[:updates] == before
    points = read_points(run.metrics)
    assert [p.seconds for p in points] == sorted(p.seconds for p in points)
    [resumed] = [p for p in read_lines(run.metrics, Point) if p.series == "resumed"]
    assert resumed.updates == updates
    ids = [line.id for line in read_lines(run.episodes, EpisodeLine)]
    assert len(ids) == len(set(ids)) == json.loads(run.result.read_text())["trajectories"]
    versions = [int(path.name.split("-")[1]) for path in run.weights.glob("weights-*")]
    assert max(versions) == learned(run)["version"] == 8
    assert len([line for line in run.evaluations.read_text().splitlines() if "before" in line]) == 1


@contextmanager
def press_control_c_after(run: RunDirectory, updates: int) -> Iterator[None]:
    """A finger that presses Ctrl-C once the learner has made so many updates."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.01):
            if len([p for p in read_points(run.metrics) if p.series == "learner"]) >= updates:
                signal.raise_signal(signal.SIGINT)
                return

    finger = threading.Thread(target=watch)
    finger.start()
    try:
        yield
    finally:
        over.set()
        finger.join()


# Errors, before anything is spent ----------------------------------------------------------------


def test_a_directory_in_use_is_refused(tmp_path: Path, model: Path) -> None:
    engine = begin(tmp_path, model)
    with engine.directory.held(), pytest.raises(DirectoryInUse, match="is in use: process"):
        engine.train(resumed=True)


def test_too_little_room_is_said_before_anything_is_made(tmp_path: Path, model: Path) -> None:
    engine = begin(tmp_path, model, "run.free_gigabytes=1e6")
    with pytest.raises(StorageFull, match="free_gigabytes wants"):
        engine.train()
    assert not engine.directory.trajectories.exists()


@pytest.mark.parametrize(
    ("setting", "error", "said"),
    [
        ("agent.model=/no/such/model", NotAModel, "there is no directory /no/such/model"),
        ("agent.policy.device=cuda:99", InvalidSetting, r"cuda:99.*distrl doctor"),
        ("agent.policy.device=toaster", InvalidSetting, "toaster.*give cpu"),
        ("run.free_gigabytes=1e6", StorageFull, "free_gigabytes wants"),
    ],
)
def test_a_run_that_cannot_begin_leaves_nothing_behind(
    tmp_path: Path, model: Path, setting: str, error: type[Exception], said: str
) -> None:
    tiny_config(tmp_path, model)
    words = [f"run.directory={tmp_path}/runs", f"agent.model={model}", ONE_PROCESS, setting]
    with pytest.raises(error, match=said):
        run_command(QUIET, tmp_path / "tiny.toml", words, None, dry_run=False)
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_place_that_cannot_be_written_to_is_said(tmp_path: Path, model: Path) -> None:
    (tmp_path / "runs").write_text("a file where the directory should be")
    tiny_config(tmp_path, model)
    with pytest.raises(StorageError, match="making a run directory"):
        run_command(
            QUIET, tmp_path / "tiny.toml", [f"run.directory={tmp_path}/runs"], None, dry_run=False
        )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace('"version": 1', '"version": 99'), "of version 99"),
        (lambda text: text[:20], "cannot be read"),
    ],
    ids=["of another version", "cut short"],
)
def test_a_checkpoint_that_cannot_be_read_is_refused(
    finished: RunDirectory, tmp_path: Path, change: Callable[[str], str], said: str
) -> None:
    run = RunDirectory(tmp_path / "copy")
    shutil.copytree(finished.path, run.path)
    [*_, newest] = sorted(run.checkpoints.iterdir())
    manifest = newest / "manifest.json"
    manifest.write_text(change(manifest.read_text()))
    size = run.metrics.stat().st_size
    with pytest.raises(CorruptCheckpoint, match=said):
        run_command(QUIET, None, ["run.updates=9"], run.path, dry_run=False)
    assert run.metrics.stat().st_size == size


@pytest.mark.parametrize("other", ["heads=3", "instruction_words=64"])
def test_other_settings_than_the_checkpoints_are_refused(
    finished: RunDirectory, tmp_path: Path, other: str
) -> None:
    run = RunDirectory(tmp_path / "copy")
    shutil.copytree(finished.path, run.path)
    words = ["run.updates=9", f"agent.policy.critic.{other}"]
    with pytest.raises(CorruptCheckpoint, match="another"):
        run_command(QUIET, None, words, run.path, dry_run=False)


def test_a_corpus_that_is_not_there_is_said(tmp_path: Path, model: Path) -> None:
    offline = ("learning.learner.mode=offline", f"learning.corpus={tmp_path}/nowhere")
    with pytest.raises(UsageError, match="there is no such directory"):
        begin(tmp_path, model, *offline).train()


def test_a_corpus_is_learned_from_without_any_collector(
    finished: RunDirectory, tmp_path: Path, model: Path
) -> None:
    offline = ("learning.learner.mode=offline", f"learning.corpus={finished.path}")
    unmeasured = ("evaluation.before=0", "evaluation.after=0")
    engine = begin(tmp_path, model, *offline, *unmeasured, "run.updates=2")
    result = engine.train()
    assert (result.updates, result.trajectories) == (2, 0)
    assert learned(engine.directory)["arrivals"]["stored"] >= 4
