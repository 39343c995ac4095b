"""Generate the page of all files in benchmarks/results: what wrote each, when, and its figures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from docs_site.repository_links import ROOT

INTRODUCTION = """# All figures

Made from `benchmarks/results`, which the commands below wrote; nobody has typed or corrected a
number. What they mean is on [Results](../results.md).
"""
TARGET = re.compile(r"^([a-z-]+):.*?## (.*); writes \S*?results/(\S+\.json)", re.MULTILINE)
ABOUT = ("command", "date", "python", "processor")


def figures_page() -> str:
    said = {name: words for _, words, name in TARGET.findall((ROOT / "Makefile").read_text())}
    files = sorted((ROOT / "benchmarks/results").glob("*.json"))
    parts = [part for file in files for part in _part(file, said.get(file.name, ""))]
    return "\n".join([INTRODUCTION, *parts])


def _part(file: Path, words: str) -> Iterator[str]:
    figures = json.loads(file.read_text("utf-8"))
    about = {name: str(figures.pop(name, "")) for name in ABOUT}
    yield f"## {file.stem}\n"
    yield f"{_told(words, about)}\n"
    yield f'??? note "{len(figures)} figures"\n'
    yield "    | figure | |\n    |---|---|"
    yield from (f"    | `{name}` | {_shown(value)} |" for name, value in figures.items())
    yield ""


def _told(words: str, about: dict[str, str]) -> str:
    """Say what wrote a file, when and where; older files have only some of that, or nothing."""
    command = about["command"] and f"`{about['command']}`"
    python = about["python"] and f"Python {about['python']}"
    machine = ", ".join(filter(None, (about["date"], about["processor"], python)))
    found = " · ".join(filter(None, (words, command, machine)))
    return found or "Says neither by what nor when it was written."


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value).replace("|", "\\|").replace("\n", " ")
