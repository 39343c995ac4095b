"""`python -m phonesim`: the phone's own command. `distrl phone` has the same subcommands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from PIL import Image


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
