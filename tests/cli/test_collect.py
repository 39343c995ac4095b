"""`distrl collect --join` on the command line: what is missing or wrong is said before anything."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from distrl import engine
from distrl.cli.main import app
from distrl.errors import (
    DistrlError,
    InvalidSetting,
    LearnerGone,
    NotInstalled,
    StorageFull,
    UsageError,
)

TOKEN = "t" * 43


def failure(*words: str) -> BaseException | None:
    return CliRunner().invoke(app, ["collect", *words]).exception


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        ([], UsageError, "--join needs --fingerprint and --token-file"),
        (["--fingerprint", "ab"], UsageError, "--token-file"),
        (["--fingerprint", "ab", "--token-file", "{}"], InvalidSetting, "64 hexadecimal digits"),
        (["--fingerprint", "0" * 64, "--token-file", "no"], InvalidSetting, "cannot be read"),
        (
            ["--fingerprint", "0" * 64, "--token-file", "{}", "--set", "run.seed=3"],
            InvalidSetting,
            "the learner sets that",
        ),
        (
            ["--fingerprint", "0" * 64, "--token-file", "{}", "--set", "run.free_gigabytes=1e6"],
            StorageFull,
            "give --spool on another disk",
        ),
        (
            ["--fingerprint", "0" * 64, "--token-file", "{}", "--give-up", "0"],
            LearnerGone,
            "does not answer",
        ),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    error: type[DistrlError],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    token = tmp_path / "token"
    token.write_text(TOKEN)
    given = [each.format(token) for each in words]
    found = failure("--join", "https://127.0.0.1:1", *given)
    assert isinstance(found, error)
    assert said in str(found)


def test_joining_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    if "join" in vars(engine):  # put back afterwards: importing anew binds another package there
        monkeypatch.setattr(engine, "join", vars(engine)["join"])
    for name in [name for name in sys.modules if name.startswith("distrl.engine.join")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "httpx", None)
    given = ("--join", "https://127.0.0.1:9", "--fingerprint", "0" * 64, "--token-file", "no")
    found = failure(*given)
    assert isinstance(found, NotInstalled)
    assert "pip install 'distrl[join]'" in str(found)
