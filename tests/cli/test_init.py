"""`distrl init` writes settings that load, from answers or from proposals."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from distrl.cli.init import QWEN, settings_text
from distrl.cli.main import app
from distrl.config.training_config import load_config

RUNNER = CliRunner()
GIVEN = ["--kind", "simulated", "--phones", "3", "--model", "starter", "--minutes", "5"]


def test_answers_become_settings_that_load(tmp_path: Path) -> None:
    done = RUNNER.invoke(app, ["init", str(tmp_path / "mine"), *GIVEN])
    assert done.exit_code == 0, done.output
    config = load_config(tmp_path / "mine" / "config.toml")
    assert (config.devices.count, config.agent.model, config.run.minutes) == (3, "starter", 5.0)
    assert config.tasks == load_config(Path("quick_start")).tasks
    again = RUNNER.invoke(app, ["init", str(tmp_path / "mine"), *GIVEN])
    assert "is there already" in str(again.exception)


def test_what_is_not_given_is_asked_for_with_the_answers_there_are(tmp_path: Path) -> None:
    done = RUNNER.invoke(app, ["init", str(tmp_path / "mine")], input="simulated\n2\nstarter\n5\n")
    assert done.exit_code == 0, done.output
    assert "kind of phones (simulated, handsets, emulators) [" in done.output
    config = load_config(tmp_path / "mine" / "config.toml")
    assert (config.devices.count, config.agent.model, config.run.minutes) == (2, "starter", 5.0)


@pytest.mark.parametrize("phones", ["simulated", "handsets", "emulators"])
def test_every_kind_of_phone_has_settings(phones: str, tmp_path: Path) -> None:
    answers: dict[str, object] = {"devices.count": 2, "agent.model": QWEN, "run.minutes": 9}
    path = tmp_path / "config.toml"
    path.write_text(settings_text(phones, answers), "utf-8")
    config = load_config(path)
    assert (config.devices.count, config.agent.policy.lora is not None) == (2, True)


def test_other_phones_are_refused_before_anything_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distrl.cli.init.ask_torch", None)
    done = RUNNER.invoke(app, ["init", str(tmp_path / "mine"), "--kind", "tablets", "--yes"])
    assert "give simulated, handsets, emulators" in str(done.exception)
    assert not (tmp_path / "mine").exists()
