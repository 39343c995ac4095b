"""`distrl configs` lists and prints; what it prints can be trained with."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from distrl.cli.main import app
from distrl.config.config_file import config_names
from distrl.config.training_config import load_config

RUNNER = CliRunner()


def test_every_name_is_listed_whole() -> None:
    said = RUNNER.invoke(app, ["configs"]).output
    assert all(name in said for name in config_names())


def test_one_is_printed_to_be_changed(tmp_path: Path) -> None:
    printed = RUNNER.invoke(app, ["configs", "cluster"]).output
    (tmp_path / "mine.toml").write_text(printed, "utf-8")
    assert load_config(tmp_path / "mine.toml") == load_config(Path("cluster"))


def test_an_unknown_one_is_refused() -> None:
    done = RUNNER.invoke(app, ["configs", "clustre"])
    assert "did you mean cluster" in str(done.exception)
