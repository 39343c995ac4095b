"""The copy of a run on another machine: a run that can be resumed, and says that it is a copy."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

pytest.importorskip("ray")

from tests.engine.run.test_losses import check, made_run
from tests.replay.made_up_trajectories import trajectory

from distrl.engine.ray.run_copy import (
    UNFINISHED,
    RunCopy,
    RunSource,
    list_files,
    read_part,
    read_rows,
)
from distrl.engine.run.losses import LearnerHome, read_home
from distrl.errors import DataLost, DirectoryInUse
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


def test_a_run_that_begins_later_on_a_disk_that_both_see_is_not_overwritten(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run")
    copying = copier(run, run)
    assert copying.begin()  # the learner has written nothing so far
    run.metrics.write_bytes(POINT)
    with pytest.raises(DirectoryInUse, match="shared_storage"):
        copying.update(ANNA, BERTIL, 1.0)
    assert ids(run) == ("c/1", "c/2", "c/3")
    assert not (run.path / UNFINISHED).exists()
    assert not copying.begin()
    assert check(run) == []


def test_a_run_that_has_not_begun_leaves_no_copy(tmp_path: Path) -> None:
    run, copy = made_run(tmp_path / "run"), RunDirectory(tmp_path / "copy")
    assert not copier(run, copy).update(ANNA, BERTIL, 1.0)
    assert not copy.path.exists()


def ids(run: RunDirectory) -> tuple[str, ...]:
    with TrajectoryStore(run.trajectories) as store:
        return tuple(store.ids)


def failing(run: RunDirectory, name: str) -> RunSource:
    """The disk fails when that file is to be copied."""
    source = source_of(run)

    def part(asked: str, offset: int) -> bytes:
        if asked == name:
            raise OSError(errno.EIO, "the disk is gone")
        return source.part(asked, offset)

    return RunSource(source.files, part, source.rows)


@pytest.mark.parametrize("name", ["metrics.jsonl", "episodes.jsonl"])
def test_an_older_copy_stays_until_there_is_a_newer_one(tmp_path: Path, name: str) -> None:
    run, copy = begun_run(tmp_path / "run"), RunDirectory(tmp_path / "copy")
    first = copier(run, copy)
    first.begin()
    first.update(ANNA, BERTIL, now=86_400.0)
    second = RunCopy(copy, failing(run, name), TrajectoryStoreSettings())
    assert second.begin()
    with pytest.raises(OSError, match="the disk is gone"):
        second.update(ANNA, BERTIL, now=2 * 86_400.0)
    assert ids(copy) == ("c/1", "c/2", "c/3")
    with pytest.raises(DataLost, match="of 1970-01-02 00:00:00 UTC"):
        check(copy)
    [said] = check(copy, accept=True)
    assert "bertil" in said
    assert check(copy) == []


def test_a_newer_copy_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    run, copy = begun_run(tmp_path / "run"), RunDirectory(tmp_path / "copy")
    run.pictures.mkdir()
    (run.pictures / "1.png").write_bytes(b"a picture")
    (run.path / "recordings.jsonl").write_bytes(b"{}\n")
    first = copier(run, copy)
    first.begin()
    first.update(ANNA, BERTIL, 1.0)
    shutil.rmtree(run.pictures)
    (run.path / "recordings.jsonl").unlink()
    with TrajectoryStore(run.trajectories) as store:
        store.append(trajectory("c/4"))
    second = copier(run, copy)
    second.begin()
    second.update(ANNA, BERTIL, now=86_400.0)
    assert ids(copy) == ("c/1", "c/2", "c/3", "c/4")
    assert not copy.pictures.exists()
    assert not (copy.path / "recordings.jsonl").exists()
    assert not (copy.path / UNFINISHED).exists()
    with pytest.raises(DataLost, match="of 1970-01-02"):
        check(copy)


@pytest.mark.parametrize("older", [True, False])
def test_a_copy_that_was_interrupted_while_it_was_put_in_place(tmp_path: Path, older: bool) -> None:
    run, copy = begun_run(tmp_path / "run"), RunDirectory(tmp_path / "copy")
    if older:
        first = copier(run, copy)
        first.begin()
        first.update(ANNA, BERTIL, 1.0)
        copy.progress.unlink()
    copy.progress.mkdir(parents=True)  # no file can take its place
    second = copier(run, copy)
    assert second.begin()
    with pytest.raises(IsADirectoryError):
        second.update(ANNA, BERTIL, now=86_400.0)
    with pytest.raises(DataLost, match="not complete"):
        check(copy)
    copy.progress.rmdir()
    assert copier(run, copy).begin()
    with pytest.raises(DataLost, match="of 1970-01-02"):
        check(copy)
    assert ids(copy) == ("c/1", "c/2", "c/3")
