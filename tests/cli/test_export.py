"""`distrl export` writes a run's trajectories with their screens and last verdicts."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.replay.made_up_trajectories import screen, trajectory
from typer.testing import CliRunner

from distrl.cli.main import app
from distrl.errors import UsageError
from distrl.records import Ending, Verdict
from distrl.replay.store.trajectory_database import Correction
from distrl.replay.store.trajectory_store import TrajectoryStore

pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    path.mkdir()
    (path / "config.toml").touch()
    return path


def test_a_runs_trajectories_as_a_file_with_their_screens(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "run.parquet"
    with TrajectoryStore(run / "trajectories") as store:  # it may be going on
        store.append_all([trajectory("a", screens=(1, 2)), trajectory("b", screens=(3, 4, 5))])
        store.correct("a", Correction(Ending.FAILURE, Verdict(False, "no", "another judge")))
        told = CliRunner().invoke(app, ["export", str(run), "--parquet", str(out)])
    assert told.exit_code == 0, told.output
    assert "2 trajectories in 5 rows" in told.output
    rows = pq.read_table(out).to_pylist()
    assert [(row["trajectory_id"], row["step"]) for row in rows] == [
        ("a", 0), ("a", 1), ("b", 0), ("b", 1), ("b", 2)
    ]  # fmt: skip
    assert [row["judge"] for row in rows] == ["another judge"] * 2 + ["made up"] * 3
    for row, number in zip(rows, range(1, 6), strict=True):
        pixels = np.asarray(Image.open(io.BytesIO(row["image"]["bytes"])))
        np.testing.assert_array_equal(pixels, screen(number).pixels)


def test_one_command_writes_a_dataset_atif_files_and_session_traces(
    run: Path, tmp_path: Path
) -> None:
    with TrajectoryStore(run / "trajectories") as store:
        store.append_all([trajectory("a", screens=(1, 2)), trajectory("b", screens=(3, 4, 5))])
    folders = {name: tmp_path / name for name in ("dataset", "atif", "sessions")}
    words = [word for name, folder in folders.items() for word in (f"--{name}", str(folder))]
    told = CliRunner().invoke(app, ["export", str(run), *words])
    assert told.exit_code == 0, told.output
    assert told.output.count("2 trajectories: ") == 3
    [table] = folders["dataset"].rglob("*.parquet")
    assert set(pq.read_table(table).column("trajectory_id").to_pylist()) == {"a", "b"}
    assert "parquet" in (folders["dataset"] / "README.md").read_text("utf-8")
    read = [json.loads(file.read_text("utf-8")) for file in sorted(folders["atif"].glob("*.json"))]
    assert [each["schema_version"] for each in read] == ["ATIF-v1.6"] * 2
    lines = [
        json.loads(line)
        for file in folders["sessions"].rglob("*.jsonl")
        for line in file.read_text("utf-8").splitlines()
    ]
    assert [line["type"] for line in lines].count("session") == 2
    assert {"user", "assistant"} <= {
        line["message"]["role"] for line in lines if line["type"] == "message"
    }
    assert len(list(folders["atif"].rglob("*.png"))) == 5


def test_an_upload_needs_a_dataset(run: Path) -> None:
    told = CliRunner().invoke(app, ["export", str(run), "--atif", "a", "--push", "me/mine"])
    assert isinstance(told.exception, UsageError)
    assert "give both" in str(told.exception)


def test_what_has_nothing_to_export_is_refused(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.parquet"
    for path, said in ((run, "no stored trajectories"), (tmp_path, "no run directory")):
        told = CliRunner().invoke(app, ["export", str(path), "--parquet", str(out)])
        assert isinstance(told.exception, UsageError)
        assert said in str(told.exception)
    assert not out.exists()
    told = CliRunner().invoke(app, ["export", str(run)])
    assert isinstance(told.exception, UsageError)  # it says what is missing
