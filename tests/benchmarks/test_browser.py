"""What the benchmark of web pages needs is said before it measures anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.browser import ordinary_chromium, step_figures

from distrl.errors import NotInstalled


def test_playwright_is_measured_with_an_ordinary_chromium(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotInstalled, match="apt install chromium"):
        step_figures(20)
    program = tmp_path / "chromium"
    program.write_text("")
    program.chmod(0o755)
    assert ordinary_chromium() == str(program)
