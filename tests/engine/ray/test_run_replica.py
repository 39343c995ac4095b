"""The copy of a run on another machine: a run that can be resumed, and says that it is a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("ray")

from tests.engine.run.test_losses import check, made_run
from tests.replay.made_up_trajectories import trajectory

from distrl.engine.ray.run_replica import RunCopy, RunSource, list_files, read_part, read_rows
from distrl.engine.run.losses import LearnerHome, read_home
from distrl.errors import DataLost
from distrl.json_lines import encode_line, read_lines
from distrl.replay.store.trajectory_store import TrajectoryStore, TrajectoryStoreSettings
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_progress import note_progress
from distrl.runs.run_records import EpisodeLine, Loss, Point

POINT = encode_line(Point("learner", 1, 1.0, {}))
ANNA, BERTIL = LearnerHome("anna", "10.0.0.1"), LearnerHome("bertil", "10.0.0.2")


def source_of(run: RunDirectory) -> RunSource:
    return RunSource(
        lambda: list_files(run),
        lambda name, offset: read_part(run, name, offset),
        lambda after: read_rows(run, after),
    )


def begun_run(folder: Path) -> RunDirectory:
    run = made_run(folder)
    run.metrics.write_bytes(POINT)
    return run


def copier(run: RunDirectory, copy: RunDirectory) -> RunCopy:
    return RunCopy(copy, source_of(run), TrajectoryStoreSettings())


def test_a_copy_is_refused_as_a_copy_and_goes_on_when_that_is_accepted(tmp_path: Path) -> None:
    run, copy = begun_run(tmp_path / "run"), RunDirectory(tmp_path / "copy")
    copying = copier(run, copy)
    assert copying.begin()
    assert copying.update(ANNA, BERTIL, now=86_400.0)
    assert read_home(copy) == LearnerHome("anna", "10.0.0.1", copy=BERTIL)
    with pytest.raises(DataLost, match=r"bertil .*, of 1970-01-02 00:00:00 UTC") as refused:
        check(copy)
    assert "--accept-losses" in str(refused.value)
    [said] = check(copy, accept=True)
    assert "anna (10.0.0.1)" in said
    assert [each.kind for each in read_lines(copy.losses, Loss)] == ["file"]  # no trajectory
    assert check(copy) == []  # from now on it is a run like others
    assert read_lines(copy.episodes, EpisodeLine) == read_lines(run.episodes, EpisodeLine)
    with TrajectoryStore(copy.trajectories) as store:
        assert store.ids == ("c/1", "c/2", "c/3")


def test_only_what_changed_is_copied_again(tmp_path: Path) -> None:
    run, copy = begun_run(tmp_path / "run"), RunDirectory(tmp_path / "copy")
    asked: list[str] = []
    source = source_of(run)

    def part(name: str, offset: int) -> bytes:
        asked.append(f"{name} from {offset}")
        return source.part(name, offset)

    copying = RunCopy(copy, RunSource(source.files, part, source.rows), TrajectoryStoreSettings())
    copying.begin()
    copying.update(ANNA, BERTIL, 1.0)
    asked.clear()
    with TrajectoryStore(run.trajectories) as store:
        store.append(trajectory("c/4"))
    with run.metrics.open("ab") as metrics:
        metrics.write(POINT)
    copying.update(ANNA, BERTIL, 2.0)
    assert f"metrics.jsonl from {len(POINT)}" in asked
    assert not [each for each in asked if each.startswith("checkpoints/")]
    assert copy.metrics.read_bytes() == 2 * POINT
    with TrajectoryStore(copy.trajectories) as store:
        assert store.ids[-1] == "c/4"


def test_half_a_line_that_was_taken_back_is_not_in_the_copy(tmp_path: Path) -> None:
    """As a full disk leaves it: what was written of the line is cut off, and another follows."""
    run, copy = begun_run(tmp_path / "run"), RunDirectory(tmp_path / "copy")
    whole = run.metrics.read_bytes()
    run.metrics.write_bytes(whole + POINT[:9])
    copying = copier(run, copy)
    copying.begin()
    copying.update(ANNA, BERTIL, 1.0)
    run.metrics.write_bytes(whole + POINT)
    (run.path / "card.json").write_text("{}", "utf-8")
    copying.update(ANNA, BERTIL, 2.0)
    assert copy.metrics.read_bytes() == whole + POINT
    assert (copy.path / "card.json").read_text("utf-8") == "{}"


def test_a_copy_without_its_note_is_still_known_as_one(tmp_path: Path) -> None:
    run, copy = begun_run(tmp_path / "run"), RunDirectory(tmp_path / "copy")
    note_progress(run, None, 0)
    copying = copier(run, copy)
    assert copying.begin()
    assert copying.update(ANNA, BERTIL, now=86_400.0)
    copy.replica.unlink()
    with pytest.raises(DataLost, match=r"replica\.json is gone; the directory is a copy"):
        check(copy)
    check(copy, accept=True)
    assert check(copy) == []


def test_a_copy_is_closed_to_others_also_where_a_folder_was_there(tmp_path: Path) -> None:
    run, copy = begun_run(tmp_path), RunDirectory(tmp_path / "copy")
    copy.path.mkdir(mode=0o755)
    assert copier(run, copy).begin()
    assert copy.path.stat().st_mode & 0o777 == 0o700


def test_a_run_that_was_worked_on_is_never_overwritten(tmp_path: Path) -> None:
    run = begun_run(tmp_path / "run")  # a disk that both machines see
    assert not copier(run, run).begin()
    assert check(run) == []


def test_a_run_that_has_not_begun_leaves_no_copy(tmp_path: Path) -> None:
    run, copy = made_run(tmp_path / "run"), RunDirectory(tmp_path / "copy")
    assert not copier(run, copy).update(ANNA, BERTIL, 1.0)
    assert not copy.path.exists()
