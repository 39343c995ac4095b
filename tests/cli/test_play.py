"""An agent is watched step by step, and what it played can be opened by the page."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest
from tests.devices.adb.served_phones import served_phones
from typer.testing import CliRunner

from distrl.cli.main import app
from distrl.devices.browser.chromium import find_chromium
from distrl.episodes.live_feed import FOLDER, LEASE, Audience
from distrl.errors import NotInstalled, UsageError
from distrl.records import Ending, Trajectory
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.runs.run_directory import RunDirectory
from distrl.task_sets.miniwob import find_pages
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


def watched(folder: Path) -> None:
    """Somebody has the page open, for an hour."""
    folder.mkdir(exist_ok=True)
    assert Audience(folder).renew()
    later = time.time() + 3600.0
    os.utime(folder / FOLDER / LEASE, (later, later))


def test_what_is_kept_is_seen_while_it_is_played(tmp_path: Path) -> None:
    watched(tmp_path)
    words = ["play", "scripted", TASK, "--out", str(tmp_path / "a.gif"), "--keep", str(tmp_path)]
    assert CliRunner().invoke(app, words).exit_code == 0
    [seen] = LiveWall(tmp_path).changed()
    assert (seen.state.device, seen.state.ending) == ("phone", "success")
    assert seen.state.step == 8
    assert seen.picture is not None


def played_on(folder: Path, *words: str) -> tuple[str, list[Trajectory]]:
    """Play with these words; what was printed, and what was kept."""
    given = ["play", *words, "--out", str(folder / "a.gif"), "--keep", str(folder / "kept")]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    assert (folder / "a.gif").read_bytes().startswith(b"GIF89a")
    return result.output, [
        stored.trajectory
        for stored in TrajectoryReader(RunDirectory(folder / "kept").trajectories).read()
    ]


def test_the_devices_of_settings_are_played_on(tmp_path: Path) -> None:
    _, [trajectory] = played_on(tmp_path, "scripted", TASK, "--set", "devices.screen=412x732")
    assert trajectory.ending is Ending.SUCCESS
    assert trajectory.screens[0].width == 412


@pytest.mark.parametrize(
    ("words", "split"),
    [
        (["--on", "quick_start"], "undemonstrated_test"),
        (["--on", "undemonstrated"], "undemonstrated_test"),
        (["--on", "quick_start", "--split", "undemonstrated"], "undemonstrated"),
        ([], "test"),
    ],
)
def test_the_first_task_is_of_the_split_that_is_evaluated_on(
    tmp_path: Path, words: list[str], split: str
) -> None:
    _, [trajectory] = played_on(tmp_path, "idle", *words)
    assert trajectory.task.split == split


@pytest.mark.slow
def test_a_served_phone_is_played_on_over_adb(tmp_path: Path) -> None:
    with served_phones(1) as phones:
        settings = tmp_path / "phone.toml"
        settings.write_text(
            f'[devices]\nkind = "adb"\ncount = 1\nserials = ["{phones.phones.addresses[0]}"]\n'
            f"[devices.android]\nadb_port = {phones.adb.port}\n"
        )
        watched(tmp_path / "kept")
        output, [trajectory] = played_on(tmp_path, "scripted", TASK, "--on", str(settings))
        left = phones.handset(0).phone.frame()
    assert np.array_equal(trajectory.screens[-1].pixels, left)  # it was played there
    assert "success in" in output, output
    assert trajectory.ending is Ending.SUCCESS
    [seen] = LiveWall(tmp_path / "kept").changed()
    assert (seen.state.device, seen.state.ending) == ("phone-0", "success")


@pytest.mark.slow
@pytest.mark.browser
def test_a_web_page_is_played_on(tmp_path: Path) -> None:
    try:
        find_chromium()
        find_pages()
    except NotInstalled as error:
        pytest.skip(f"left out: {error}")
    words = ["done", "miniwob.click-test/test/3", "--on", "miniwob"]
    output, [trajectory] = played_on(tmp_path, *words)
    assert trajectory.task.instruction == "Click the button."
    assert "Click the button." in output
    assert trajectory.ending is Ending.FAILURE


def test_an_evaluation_keeps_its_episodes_for_the_page(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    words = ["evaluate", "scripted", "--episodes", "3", "--phones", "2", "--keep", str(kept)]
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
