"""What stands on pages: fenced blocks with their marks, commands, links, headings.

A mark is a comment in the line before a block: `<!-- not run: why -->`, or `<!-- run by FILE -->`,
where FILE is the test that runs it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from distrl.cli.main import app

ROOT = Path(__file__).parents[2]
OTHERS = ("README.md", "CONTRIBUTING.md", "examples/README.md")
PAGES = sorted([*(ROOT / each for each in OTHERS), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[^>]*) -->\n)?^(?P<indent> *)```(?P<kind>\w*)\n(?P<text>.*?)^ *```",
    re.DOTALL | re.MULTILINE,
)
SHELLS = {"", "sh", "bash", "ini", "console"}
COMMAND = get_command(app)
CALLED = {"distrl", "ExecStart=%h/venv/bin/distrl", ".venv/bin/distrl"}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    kind: str
    text: str
    mark: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path, *kinds: str) -> list[Block]:
    text = page.read_text("utf-8")
    found = []
    for match in BLOCK.finditer(text):
        if match["kind"] in kinds or not kinds:
            body = "\n".join(
                line.removeprefix(match["indent"]) for line in match["text"].split("\n")
            )
            line = text[: match.start()].count("\n") + 1
            found.append(Block(page, line, match["kind"], body, match["mark"] or ""))
    return found


def commands(shown: str) -> Iterator[list[str]]:
    """What stands after `distrl` in lines of a shell; \\ goes on in the next line."""
    for line in shown.replace("\\\n", " ").splitlines():
        bare = re.split(r" #|; do| && | > |\$\(ls", line)[0].rstrip("& ")
        if not any(word in bare for word in CALLED):
            continue
        words = shlex.split(bare)
        starts = [
            at for at, word in enumerate(words[:-1]) if word in CALLED and not _is_value(words, at)
        ]
        yield from (words[at + 1 :] for at in starts[:1])


def _is_value(words: list[str], at: int) -> bool:
    """As in `emulator -avd distrl`."""
    return at > 0 and words[at - 1].startswith("-") and "=" not in words[at - 1]


def can_be_given(words: list[str]) -> bool:
    """Whether there is such a command, with such options; nothing is run, values are not read."""
    command: Any = COMMAND
    rest = words[: words.index("--")] if "--" in words else list(words)
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        command = command.commands.get(rest.pop(0))
        if command is None:
            return False
    parameters = command.get_params(typer.Context(command))
    known = {name for each in parameters for name in (*each.opts, *each.secondary_opts)}
    return {word.partition("=")[0] for word in rest if word.startswith("-")} <= known


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return BLOCK.sub("", page.read_text("utf-8"))


def links(page: Path) -> list[tuple[str, str]]:
    """Links to files, with the heading that they name."""
    found = re.findall(r"\]\(([^)\s#:<>]*)(?:#([^)\s]*))?\)", prose(page))
    return [(target, anchor) for target, anchor in found if target or anchor]


def anchors(page: Path) -> set[str]:
    """The ids of its headings, as GitHub and Python-Markdown make them of the same words."""
    titles = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in titles)
    bare = (re.sub(r"[^\w\s-]", "", title.lower()).strip() for title in plain)
    return {re.sub(r"[-\s]+", "-", title) for title in bare}
