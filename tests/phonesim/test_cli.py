"""`python -m phonesim`: the phone's own command. `distrl phone` has the same subcommands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from distrl.errors import UsageError
from phonesim.cli import phone_app


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "phonesim", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_screen_is_drawn_and_an_error_is_one_line(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "notes.png"
    drawn = run("draw", "--app", "notes", "--tap", "New note", "--out", str(out))
    assert (drawn.returncode, drawn.stderr) == (0, "")
    with Image.open(out) as picture:
        assert picture.size == (360, 720)
    refused = run("draw", "--app", "Nowhere")
    assert refused.returncode == 2
    assert refused.stderr.startswith("UnknownApp: no app called 'Nowhere'")


BEGINNINGS = {
    "a.png": b"\x89PNG", "a.jpg": b"\xff\xd8\xff", "a.gif": b"GIF8", "a.bmp": b"BM",
    "a.webp": b"RIFF", "a.tiff": b"II*\0", "a.PDF": b"%PDF",
}  # fmt: skip


@pytest.mark.parametrize("name", BEGINNINGS)
@pytest.mark.parametrize("words", [["draw"], ["looks", "--seeds", "1"]])
def test_pictures_are_of_the_kind_that_their_suffix_says(
    words: list[str], name: str, tmp_path: Path
) -> None:
    done = CliRunner().invoke(phone_app, [*words, "--out", str(tmp_path / name)])
    assert done.exit_code == 0, done.exception
    assert (tmp_path / name).read_bytes().startswith(BEGINNINGS[name])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a", "has no suffix of a picture; end it in .png"),
        ("a.txt", "has no suffix of a picture; end it in .png"),
        ("a.cur", "has no suffix of a picture"),  # PIL reads these, and writes none
        ("a.xbm", "cannot be such a picture"),  # of two colours
    ],
)
def test_what_is_no_picture_is_said(name: str, said: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(phone_app, ["draw", "--out", str(tmp_path / name)])
    assert isinstance(done.exception, UsageError)
    assert said in str(done.exception)
    assert not (tmp_path / name).exists()


def test_a_sheet_that_nobody_knows_is_refused_with_those_that_there_are() -> None:
    refused = run("sheet", "sketches")
    assert refused.returncode == 2
    assert "everyday-densities, densities, screens, languages, scripts" in " ".join(
        refused.stderr.split()
    )
    assert (
        "no everyday app called 'Notes'"
        in run("sheet", "everyday-densities", "--app", "Notes").stderr
    )
