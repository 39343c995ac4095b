"""A dry run is said in every line of the commands that look at phones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.devices.adb.served_phones import ServedPhones, served_phones
from tests.engine.aitw_files import aitw_settings
from typer.testing import CliRunner

from distrl.cli.main import app
from distrl.devices.safety.safety import SENTENCE
from distrl.reporting.run_story import read_story
from distrl.runs.run_directory import RunDirectory


@pytest.fixture
def phones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedPhones]:
    """One, whose owner agrees."""
    with served_phones(1) as served:
        serial = served.phones.addresses[0]
        consent = tmp_path / "consent"
        consent.mkdir()
        (consent / f"{serial.replace(':', '_')}.toml").write_text(
            f'serial = "{serial}"\nowner = "Ada"\nsentence = "{SENTENCE}"\napps = []\n'
        )
        monkeypatch.setenv("DISTRL_CONSENT", str(consent))
        yield served


def dry(phones: ServedPhones) -> list[str]:
    settings = (
        "devices.kind=adb",
        "devices.count=1",
        f"devices.serials={phones.phones.addresses[0]}",
        f"devices.android.adb_port={phones.adb.port}",
        "devices.android.safety.dry_run=true",
    )
    return [word for each in settings for word in ("--set", each)]


def test_an_agent_that_is_watched_in_a_dry_run(
    phones: ServedPhones, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    kept = RunDirectory(tmp_path / "kept")
    words = ["play", "done", *dry(phones), "--out", str(tmp_path / "a.gif")]
    words += ["--keep", str(kept.path), "--set", "judge.kind=vlm", "--set", "judge.model=m"]
    words += ["--set", "judge.server=http://localhost:1/v1"]
    for each in aitw_settings(tmp_path):
        words += ["--set", each]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert len(lines) >= 5  # the task, a step, the end, the recording, where to look
    assert all(line.startswith("DRY RUN") for line in lines), result.output
    assert read_story(kept).dry_run == "DRY RUN"


@pytest.mark.slow
def test_a_collector_that_joins_with_phones_that_are_only_looked_at(
    phones: ServedPhones, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("t" * 43)
    token.chmod(0o600)
    words = ["collect", "--join", "https://127.0.0.1:1", "--fingerprint", "0" * 64, *dry(phones)]
    words += ["--token-file", str(token), "--spool", str(tmp_path / "spool")]
    command = [sys.executable, "-m", "distrl", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()  # that nobody answers
        finally:
            process.kill()
    assert said.startswith("DRY RUN · "), said
    assert "trying again" in said
