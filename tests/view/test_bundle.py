"""A bundle has every file that the page asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from distrl.errors import UsageError
from distrl.view.bundle import write_bundle
from distrl.view.resources import Resources


def test_a_bundle_has_what_the_server_would_send(resources: Resources, tmp_path: Path) -> None:
    assert write_bundle(resources, tmp_path / "out", episodes=1) == 2
    files = {
        path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*")
    }
    assert {"index.html", "static/app.js", "data/runs.json", "data/small/curves.json"} <= files
    assert {"data/small/episode/4.json", "data/small/episode/4.gif"} <= files
    assert {f"data/small/screen/4-{step}.jpg" for step in range(3)} <= files
    assert "data/small/episode/1.json" not in files  # only the newest was asked for
    report = (tmp_path / "out/report-small.html").read_text("utf-8")
    assert 'href="index.html#/small/episodes"' in report
    content = (tmp_path / "out/data/small/episode/4.json").read_bytes()
    assert content == resources.get("small/episode/4.json").content
    assert b'"seq":[4]' in (tmp_path / "out/data/small/episodes.json").read_bytes()


def test_a_folder_with_something_in_it_is_left_alone(resources: Resources, tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(UsageError, match="not empty"):
        write_bundle(resources, tmp_path)
