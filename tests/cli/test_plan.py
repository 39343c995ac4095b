"""`distrl plan` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from distrl.cli.main import app
from distrl.errors import InvalidSetting, UsageError

PLAN = """
[phones]
count = 6
kind = "stated"
reset = { median = 10.0 }
step = { median = 5.0, log_sd = 0.3 }

[policy]
copies = 1
batch_sizes = [1, 8]
batch_seconds = [0.5, 0.8]

[collectors]
count = 1
nodes = 1

[learner]
gpus = 1
update = { median = 20.0 }
batch_trajectories = 4
staleness = { at_start = 4, at_arrival = 16 }
"""


def said(*words: object) -> str:
    result = CliRunner().invoke(app, ["plan", *map(str, words)], env={"COLUMNS": "120"})
    if result.exception:
        raise result.exception
    return result.output


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


def test_a_plan_says_what_comes_and_what_to_buy(file: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    text = said(file, "--minutes", 60, "--json", figures)
    assert "trajectories / min" in text
    assert "Buy next: " in text
    found = json.loads(figures.read_text())
    [prediction] = found["predictions"]
    assert prediction["phones"] == 6
    assert prediction["trajectories_per_minute"] > 1.0
    assert prediction["staleness"]["mean"] >= 0.0
    assert found["advice"].split("Buy next: ")[1].split(",")[0] in found["gains"]


def test_several_systems_stand_side_by_side(file: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    systems = ["--phones", 6, "--phones", 60, "--gpus", 1, "--gpus", 4]
    text = said(file, *systems, "--minutes", 20, "--json", figures)
    assert "Buy next" not in text
    few, many = json.loads(figures.read_text())["predictions"]
    assert (few["phones"], few["policy_gpus"]) == (6, 1)
    assert (many["phones"], many["policy_gpus"]) == (60, 4)
    assert many["decisions_per_second"] > few["decisions_per_second"]


def test_a_folder_to_write_to_is_refused_before_anything_is_planned(
    file: Path, tmp_path: Path
) -> None:
    result = CliRunner().invoke(app, ["plan", str(file), "--json", str(tmp_path)])
    assert isinstance(result.exception, UsageError)
    assert f"{tmp_path} is a folder" in str(result.exception)
    assert result.stdout == ""


def test_what_does_not_fit_together_is_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--gpus was given 2 times"):
        said(file, "--phones", 6, "--phones", 12, "--phones", 24, "--gpus", 1, "--gpus", 2)
    with pytest.raises(UsageError, match="from one of them"):
        said(file, "--from-run", tmp_path)
    file.write_text("[phones]\ncoutn = 3\n")
    with pytest.raises(InvalidSetting, match=r"did you mean phones\.count"):
        said(file)
