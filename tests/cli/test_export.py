"""`distrl export` writes a run's trajectories with their screens and last verdicts."""

from __future__ import annotations

import io
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


def test_what_has_nothing_to_export_is_refused(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.parquet"
    for path, said in ((run, "no stored trajectories"), (tmp_path, "no run directory")):
        told = CliRunner().invoke(app, ["export", str(path), "--parquet", str(out)])
        assert isinstance(told.exception, UsageError)
        assert said in str(told.exception)
    assert not out.exists()
    told = CliRunner().invoke(app, ["export", str(run)])
    assert isinstance(told.exception, UsageError)  # it says what is missing
