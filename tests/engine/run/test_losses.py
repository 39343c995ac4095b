"""A resume that finds less than there was refuses, and says so; accepted losses are on record."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from tests.engine.test_one_process import begin
from tests.learning.small_circle import SmallCircle
from tests.replay.made_up_trajectories import trajectory

from distrl.cli.train import run_command
from distrl.config.training_config import load_config
from distrl.engine.ingest.delivery import ArrivalQueue
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.local.local_engine import LocalEngine
from distrl.engine.run.losses import (
    LearnerHome,
    check_corpus,
    check_losses,
    note_corpus_damage,
    read_home,
    write_home,
)
from distrl.engine.run.resume import TrainingState
from distrl.errors import CorruptLog, DataLost
from distrl.json_lines import LineLog, read_lines
from distrl.learning.checkpoint import CheckpointFolder
from distrl.replay.store.trajectory_database import NAME
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.replay.trajectory_encoding import encode_trajectory
from distrl.reporting.report import write_report
from distrl.runs.run_directory import RESUME_LOCK, RunDirectory
from distrl.runs.run_progress import note_progress
from distrl.runs.run_records import Loss

IDS = ("c/1", "c/2", "c/3")


def made_run(folder: Path) -> RunDirectory:
    """A run with three trajectories, their lines, and a checkpoint that is noted."""
    run = RunDirectory(folder)
    with TrajectoryStore(run.trajectories) as store, LineLog.open(run.episodes) as lines:
        log = EpisodeLog(lines, lambda: 5.0)
        for name in IDS:
            store.append(trajectory(name))
            log.arrived(trajectory(name))
        log.close()
        checkpoints = CheckpointFolder(run.checkpoints)
        saved = checkpoints.save(TrainingState(SmallCircle().learner, ArrivalQueue(3)))
        note_progress(run, saved, 3)
    run.config.write_text("", "utf-8")
    return run


def check(run: RunDirectory, *, accept: bool = False) -> list[str]:
    said: list[str] = []
    with TrajectoryStore(run.trajectories) as store:
        check_losses(run, store, CheckpointFolder(run.checkpoints), said.append, accept=accept)
    return said


def flip_a_byte(run: RunDirectory) -> None:
    path = run.trajectories / NAME
    data = bytearray(path.read_bytes())
    body = encode_trajectory(trajectory("c/2"))
    data[data.index(body[:40]) + 30] ^= 0xFF
    path.write_bytes(data)


def empty_the_store(run: RunDirectory) -> None:
    (run.trajectories / NAME).write_bytes(b"")


def remove_the_store(run: RunDirectory) -> None:
    shutil.rmtree(run.trajectories)


def remove_the_checkpoints(run: RunDirectory) -> None:
    shutil.rmtree(run.checkpoints)


def empty_the_log(run: RunDirectory) -> None:
    run.episodes.write_bytes(b"")


def damage_the_progress(run: RunDirectory) -> None:
    run.progress.write_text("{", "utf-8")


DAMAGES: list[tuple[Callable[[RunDirectory], None], int, list[str]]] = [
    (flip_a_byte, 1, []),
    (empty_the_store, 3, ["trajectories"]),
    (remove_the_store, 3, ["trajectories"]),
    (remove_the_checkpoints, 0, ["checkpoints/update-000000000.000"]),
    (empty_the_log, 0, ["episodes.jsonl"]),
    (damage_the_progress, 0, ["progress.json"]),
]


def test_a_whole_run_is_resumed_without_a_word(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    assert check(run) == []
    assert not run.losses.exists()


@pytest.mark.parametrize(
    ("damage", "trajectories", "files"), DAMAGES, ids=[each[0].__name__ for each in DAMAGES]
)
def test_less_than_there_was_is_refused_or_accepted_once_and_kept_on_record(
    tmp_path: Path, damage: Callable[[RunDirectory], None], trajectories: int, files: list[str]
) -> None:
    run = made_run(tmp_path)
    damage(run)
    with pytest.raises(DataLost, match="has less than it had") as refused:
        check(run)
    assert f"distrl train --resume {run.path} --accept-losses" in str(refused.value)
    assert not run.losses.exists()
    [said] = check(run, accept=True)
    assert said.startswith("going on without what was lost")
    losses = read_lines(run.losses, Loss)
    assert sum(each.kind == "trajectory" for each in losses) == trajectories
    assert [each.name for each in losses if each.kind == "file"] == files
    assert check(run) == []  # it was accepted: it is not asked again
    assert "Lost on the way" in write_report(run).read_text("utf-8")


def test_trajectories_that_the_store_dropped_itself_are_no_loss(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    with TrajectoryStore(run.trajectories) as store:
        store._database.execute("DELETE FROM bodies WHERE seq = 1")  # as `_make_room` does
    assert check(run) == []


def test_a_corpus_that_has_less_is_refused_or_accepted_once_and_kept_on_record(
    tmp_path: Path,
) -> None:
    run, said = made_run(tmp_path), list[str]()
    lost = ("corpus/c/1", "corpus/c/2")
    with pytest.raises(DataLost, match=r"2 trajectories are lost .*is not in learning.corpus"):
        check_corpus(run, lost, said.append, accept=False)
    check_corpus(run, lost, said.append, accept=True)
    assert [each.name for each in read_lines(run.losses, Loss)] == list(lost)
    check_corpus(run, lost, said.append, accept=False)
    assert len(said) == 1


def test_what_cannot_be_read_of_a_corpus_is_on_record_once(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    for _ in range(2):
        note_corpus_damage(run, "left out, trajectory number 2")
    assert [each.name for each in read_lines(run.losses, Loss)] == ["learning.corpus"]
    assert "left out, trajectory number 2" in write_report(run).read_text("utf-8")


@pytest.mark.slow
def test_a_real_run_refuses_says_and_counts(tmp_path: Path, model: Path) -> None:
    engine = begin(tmp_path, model, "run.updates=2")
    run = engine.directory
    assert engine.train().lost_trajectories == 0
    run.result.unlink()
    shutil.rmtree(run.trajectories)
    shutil.rmtree(run.checkpoints)
    before = {path.name for path in run.path.iterdir()} | {"trajectories", ".probe", RESUME_LOCK}
    with pytest.raises(DataLost, match="--accept-losses"):
        run_command(Console(quiet=True), None, [], run.path, dry_run=False)
    assert {path.name for path in run.path.iterdir()} <= before
    config = load_config(run.config)
    config = replace(config, run=replace(config.run, updates=1))
    result = LocalEngine(config, run, Console(quiet=True)).train(resumed=True, accept_losses=True)
    assert result.lost_trajectories >= 2
    assert any(name.startswith("checkpoints/") for name in result.damaged_files)
    assert '"damaged_files": [' in run.result.read_text("utf-8")


def test_a_run_whose_learner_was_on_another_machine_does_not_start_over_here(
    tmp_path: Path,
) -> None:
    run = RunDirectory(tmp_path)
    run.config.write_text("", "utf-8")
    assert check(run) == []  # nothing had begun
    write_home(run, LearnerHome("gpu", "10.0.0.2"))
    assert read_home(run) == LearnerHome("gpu", "10.0.0.2")
    with pytest.raises(DataLost, match=r"its learner was on gpu \(10\.0\.0\.2\)"):
        check(run)
    assert len(check(run, accept=True)) == 1
    assert read_home(run) is None  # from now on it is here
    run.learner_home.write_text("{", "utf-8")
    with pytest.raises(DataLost, match="remove the file to start over here"):
        check(run)


def test_a_file_that_is_lost_again_is_another_loss(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    for losses in (1, 2):
        run.progress.write_text("{", "utf-8")
        with pytest.raises(DataLost, match=r"progress\.json cannot be read"):
            check(run)
        check(run, accept=True)
        assert len(read_lines(run.losses, Loss)) == losses


def test_a_log_that_lost_its_last_newline_has_less_than_it_had(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    run.episodes.write_bytes(run.episodes.read_bytes()[:-1] + b"x")
    with pytest.raises(DataLost, match=r"episodes\.jsonl has \d+ bytes of whole lines"):
        check(run)


def test_a_damaged_line_of_any_log_is_refused_before_anything_is_changed(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    run.recordings.write_bytes(b"{}\n")
    with pytest.raises(CorruptLog, match="line 1 is no Recording"):
        check(run)
