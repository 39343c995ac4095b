"""Runs on the terminal: listed, compared, reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.view.made_up_run import write_run
from typer.testing import CliRunner

from distrl.cli.main import app
from distrl.cli.runs import runs
from distrl.errors import UsageError


def said(*words: str) -> str:
    result = CliRunner().invoke(app, list(words), env={"COLUMNS": "200"})
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_runs_are_listed_compared_and_reported(tmp_path: Path) -> None:
    one, other = write_run(tmp_path, "one", 0), write_run(tmp_path, "other", 1)
    listed = said("runs", str(tmp_path))
    assert "one" in listed
    assert "stopped" in listed
    assert "50% [9%, 91%]" in listed
    compared = said("compare", str(one.path), str(other.path))
    assert "+50 points" in compared
    assert "no gain that counts" in compared
    assert "run.seed" in compared
    assert said("report", str(one.path)).strip() == str(one.report)
    assert one.report.read_text("utf-8").startswith("<!doctype html>")


def test_names_of_runs_are_whole_in_a_pipe_and_in_a_narrow_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "qwen2_5_vl_3b_one_gpu-2026-11-18-213024"
    write_run(tmp_path, name)
    [line] = said("runs", str(tmp_path)).splitlines()
    assert line.split("\t")[:2] == [name, "stopped"]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    runs(tmp_path)
    assert capsys.readouterr().out.startswith(f"{name}  stopped, ")


def test_one_run_is_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two runs or more"):
        said("compare", str(write_run(tmp_path).path))


def test_an_export_without_a_target_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--bundle"):
        said("export", str(tmp_path))
