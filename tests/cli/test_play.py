"""An agent is watched step by step, and what it played can be opened by the page."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from distrl.cli.main import app
from distrl.episodes.live_feed import Audience
from distrl.errors import UsageError
from distrl.view.live_wall import LiveWall
from distrl.view.resources import Resources
from distrl.view.run_catalogue import RunCatalogue

TASK = "notes.create/train/0"


def test_a_scripted_agent_is_watched_recorded_and_kept(tmp_path: Path) -> None:
    out, kept = tmp_path / "deep" / "play.gif", tmp_path / "kept"
    for _ in range(2):  # the second has an id of its own
        words = ["play", "scripted", TASK, "--out", str(out), "--keep", str(kept)]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
    assert "1/" in result.output
    assert "success in" in result.output
    assert out.read_bytes().startswith(b"GIF89a")
    episodes = msgspec.json.decode(
        Resources(RunCatalogue.at(kept)).get("kept/episodes.json").content
    )
    assert episodes["task"] == [TASK, TASK]
    assert episodes["ending"] == ["success", "success"]


def test_what_is_kept_is_seen_while_it_is_played(tmp_path: Path) -> None:
    assert Audience(tmp_path).renew()  # somebody has the page open
    words = ["play", "scripted", TASK, "--out", str(tmp_path / "a.gif"), "--keep", str(tmp_path)]
    assert CliRunner().invoke(app, words).exit_code == 0
    [seen] = LiveWall(tmp_path).changed()
    assert (seen.state.device, seen.state.ending) == ("phone", "success")
    assert seen.state.step == 8
    assert seen.picture is not None


def test_an_evaluation_keeps_its_episodes_for_the_page(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    words = ["evaluate", "scripted", "--episodes", "3", "--devices", "2", "--keep", str(kept)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    resources = Resources(RunCatalogue.at(kept))
    summary = msgspec.json.decode(resources.get("kept/summary.json").content)
    assert summary["after"]["episodes"] == summary["trajectories"] == 3
    assert summary["kept_evaluation"]
    assert resources.get("kept/screen/1-0.jpg").content.startswith(b"\xff\xd8")


@pytest.mark.parametrize("words", [["--out", "x.mp3"], ["--split", "none"], ["--view"]])
def test_what_cannot_be_is_refused(words: list[str]) -> None:
    result = CliRunner().invoke(app, ["play", "scripted", *words])
    assert isinstance(result.exception, UsageError)
