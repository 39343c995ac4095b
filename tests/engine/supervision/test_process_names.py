"""Names of processes stay unique through restarts and resumes."""

from __future__ import annotations

from pathlib import Path

import pytest

from distrl.engine.supervision.process_names import new_name, starts
from distrl.errors import StorageError
from distrl.runs.run_directory import RunDirectory


def test_names_stay_unique_through_resumes(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    assert [new_name(run, 0) for _ in range(3)] == [f"collector-0.{n}" for n in (1, 2, 3)]
    assert new_name(run, 10) == "collector-10.1"
    assert new_name(run, 0, "policy") == "policy-0.1"
    (tmp_path / "logs" / "collector-0.1.log").unlink()
    assert new_name(run, 0) == "collector-0.4"
    assert sorted(starts(run, 0)) == [2, 3, 4]


def test_where_no_log_can_be_made_nobody_is_named(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file in the way")
    with pytest.raises(StorageError, match="making a log for collector 0"):
        new_name(RunDirectory(tmp_path), 0)
