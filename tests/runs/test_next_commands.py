"""The commands that a run ends with can be typed as they stand."""

from __future__ import annotations

import shlex
from pathlib import Path

from distrl.config.training_config import load_config
from distrl.runs.run_directory import RunDirectory, evaluation_words, resume_words


def test_a_stopped_run_goes_on_and_a_finished_one_for_as_long_again(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "my runs")
    run.path.mkdir()
    config = load_config(None, ["run.minutes=4", "run.updates=100"])
    assert shlex.split(resume_words(run, config)) == ["distrl", "train", "--resume", str(run.path)]
    run.result.write_text("{}")
    more = shlex.split(resume_words(run, config))[4:]
    assert more == ["--set", "run.minutes=8", "--set", "run.updates=200"]
    assert load_config(None, more[1::2]).run.updates == 200


def test_it_is_played_on_what_it_was_trained_on(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    config = load_config(None, ["tasks.templates=clock.delete_alarm", "tasks.families=general"])
    words = shlex.split(evaluation_words(run, config))
    assert words[words.index("--template") + 1] == "clock.delete_alarm"
    assert words[words.index("--family") + 1] == "general"


def test_what_was_trained_on_phones_is_measured_on_phones(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    config = load_config(Path("handsets"))
    words = shlex.split(evaluation_words(run, config))
    assert words[:3] == ["distrl", "collect", str(run.config)]
    given = [each.removeprefix("--set=") for each in words[3:]]
    assert f"agent.adapter={run.policy}" in given
    assert load_config(Path("handsets"), given).tasks.split == "test"
