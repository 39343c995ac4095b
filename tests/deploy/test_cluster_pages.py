"""The commands on the pages about clusters are commands that exist, with options that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from distrl.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs/cluster").glob("*.md"))
CALLED = {"distrl", "ExecStart=%h/venv/bin/distrl"}


def commands(text: str) -> list[list[str]]:
    """What stands after `distrl` in fenced blocks, line by line; \\ goes on in the next line."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    shown = "\n".join(block for kind, block in blocks if kind in {"", "bash", "ini"})
    found = []
    for line in shown.replace("\\\n", " ").splitlines():
        words = shlex.split(line.partition(" # ")[0].partition("; do")[0].rstrip("& "))
        starts = [at for at, word in enumerate(words[:-1]) if word in CALLED]
        found += [words[at + 1 :] for at in starts[:1]]
    return found


def can_be_given(words: list[str]) -> bool:
    """Asked for help, the command looks at all other options first, and does nothing."""
    return CliRunner().invoke(app, [*words, "--help"]).exit_code == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_on_the_page_can_be_given(page: Path) -> None:
    found = commands(page.read_text("utf-8"))
    assert found
    assert [words for words in found if not can_be_given(words)] == []


def test_a_slip_on_a_page_is_seen() -> None:
    shown = "distrl cluster start \\\n --lisen 10.0.0.5  # a slip"
    text = f"```dockerfile\nRUN distrl\n```\n```\n{shown}\n```\n"
    assert commands(text) == [["cluster", "start", "--lisen", "10.0.0.5"]]
    assert not can_be_given(["cluster", "start", "--lisen", "10.0.0.5"])
    assert not can_be_given(["clusters", "start"])
    assert can_be_given(["cluster", "start", "--listen", "10.0.0.5"])


def test_links_between_the_pages_lead_somewhere() -> None:
    targets = [
        (page.parent / target)
        for page in PAGES
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    ]
    assert len(targets) > 5
    assert [target for target in targets if not target.exists()] == []
