"""Commands that are given settings with several environments: each understands or refuses them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from tests.chat.chat_protocol import Reply, serving
from tests.engine.tiny_runs import mixed_config, write_model
from typer.testing import CliRunner

import distrl
from distrl.cli.doctor import run_findings
from distrl.cli.main import app
from distrl.cli.train import new_directory
from distrl.errors import InvalidSetting, UsageError
from distrl.runs.run_directory import evaluation_words

WIDE = {"COLUMNS": "200"}


def said(*words: object) -> str:
    result = CliRunner().invoke(app, list(map(str, words)), env=WIDE)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    mixed_config(tmp_path, tmp_path)
    return tmp_path / "mixed.toml"


def test_evaluate_has_a_row_for_each_environment_of_settings_or_of_a_run(
    settings: Path, tmp_path: Path
) -> None:
    run = new_directory(mixed_config(tmp_path, tmp_path))
    for on in (settings, run.path):
        figures = tmp_path / "figures.json"
        table = said("evaluate", "scripted", "--on", on, "--episodes", 2, "--json", figures)
        assert "small" in table
        assert "tall" in table
        found = json.loads(figures.read_text())
        assert list(found) == [f"{on}/small", f"{on}/tall"]
        assert [each["success"] for each in found.values()] == [1.0, 1.0]
        assert {each["split"] for each in found.values()} == {"test"}


def test_evaluate_refuses_what_is_judged_later_before_anything_is_played(tmp_path: Path) -> None:
    with serving(Reply(b"")) as (url, log):
        judge = f"environments.tall.judge={{kind='vlm', server='{url}', model='m'}}"
        words = ["environments.tall.stop_on_success=false", "environments.tall.measured=false"]
        config = mixed_config(
            tmp_path, tmp_path, judge, *words, "environments.tall.tasks.curriculum=uniform"
        )
        run = new_directory(config)
        with pytest.raises(UsageError, match="judges after the episode"):
            said("evaluate", "done", "--on", run.path, "--episodes", 1)
        assert not log.completions
    assert "distrl collect" in evaluation_words(run, config)
    splits = "environments.small.tasks.split=test --set=environments.tall.tasks.split=test"
    assert splits in evaluation_words(run, config)


def test_what_a_run_says_to_type_next_can_be_typed(tmp_path: Path) -> None:
    config = mixed_config(tmp_path, tmp_path)
    run = new_directory(config)
    program, *words = shlex.split(evaluation_words(run, config))
    words[words.index(str(run.path))] = "done"  # nothing was trained
    assert program == "distrl"
    assert "tall" in said(*words, "--episodes", 1)


def test_doctor_asks_in_each_environment(settings: Path, tmp_path: Path) -> None:
    found = {each.what: each.verdict for each in run_findings(settings, tmp_path)}
    assert found["small: phones"] == "good"
    assert found["tall: phones"] == "note"  # a screen that the model reads less well
    assert {"small: tasks", "tall: tasks"} <= set(found)


def test_plan_and_dry_run_count_all_devices(settings: Path) -> None:
    assert "2 phones of small" in said("plan", settings)
    shown = said("train", settings, "--dry-run")
    assert "[environments.tall.devices]" in shown
    assert "3 processes" in shown
    assert "1 phones of tall" in shown


def test_a_plan_of_a_run_with_several_is_refused(tmp_path: Path) -> None:
    run = new_directory(mixed_config(tmp_path, tmp_path))
    with pytest.raises(UsageError, match="a plan is of one kind of phone"):
        said("plan", "--from-run", run.path)


def test_one_environment_is_played_at_a_time(settings: Path) -> None:
    with pytest.raises(UsageError, match="these settings have the environments small, tall"):
        said("play", "scripted", "--on", settings)


def test_init_says_where_to_begin(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="distrl configs mixed"):
        said("init", tmp_path / "new", "--kind", "mixed", "--yes")


def test_one_part_is_of_one_environment(tmp_path: Path) -> None:
    config = mixed_config(tmp_path, tmp_path)
    with pytest.raises(UsageError, match=r"config\.in_environment\(NAME\)"):
        distrl.build_tasks(config)
    task = next(distrl.build_tasks(config.in_environment("tall")))
    assert task.template == "clock.delete_alarm"
    with distrl.build_devices(config.in_environment("small")) as devices:
        assert [each.name for each in devices] == ["small-0", "small-1"]


def test_a_collector_that_joins_refuses_settings_with_environments(settings: Path) -> None:
    words = ["collect", settings, "--join", "https://127.0.0.1:1", "--fingerprint", "0" * 64]
    with pytest.raises(InvalidSetting, match="the learner sets that"):
        said(*words, "--token-file", settings)


@pytest.mark.slow
def test_a_run_with_several_is_reproduced(tmp_path: Path) -> None:
    words = ["collection.mode=one_process", "run.updates=2", "evaluation.before=0"]
    config = mixed_config(tmp_path, write_model(tmp_path), *words)
    run = distrl.train(config, quiet=True)
    assert "the same: every figure of 2 updates is equal" in said("reproduce", run.directory)
