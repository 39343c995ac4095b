"""What stands on pages: fenced blocks with their marks, commands, links, headings.

A mark is a comment in the line before a block: `<!-- not run: why -->`, or `<!-- run by FILE -->`,
where FILE is the test that runs it. Python runs or is marked. A block of a shell, and one without a
kind, is marked unless all of its lines are commands that can be checked without running them:
`distrl` and `python -m phonesim` against their parsers (command and options, and the names of
settings after `--set`), `make` against the Makefile, and `pip install` of nothing but ourselves
against the extras in pyproject.toml. What is no command (output, trees, drawings) is of the kind
`text`.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from distrl.cli.main import app
from distrl.config.training_config import TrainingConfig
from distrl.config.typed_reader import setting_names

ROOT = Path(__file__).parents[2]
OTHERS = ("README.md", "CONTRIBUTING.md", "examples/README.md")
PAGES = sorted([*(ROOT / each for each in OTHERS), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[^>]*) -->\n)?^(?P<indent> *)```(?P<kind>\w*)\n(?P<text>.*?)^ *```",
    re.DOTALL | re.MULTILINE,
)
SHELLS = {"", "sh", "bash", "ini", "console"}
TYPED = ("", "sh", "bash", "console")  # what one types, as a block without a kind may be
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


def unchecked(block: Block) -> list[str]:
    """The lines of a shell's block that nothing can be said about without running them."""
    lines = block.text.replace("\\\n", " ").splitlines()
    bare = (re.split(r"(?:^|\s)#", line)[0].strip() for line in lines)
    return [line for line in bare if line and not _is_checked(line)]


def _is_checked(line: str) -> bool:
    try:
        words = shlex.split(line.partition(" > ")[0])
    except ValueError:  # a quotation that does not end: no command
        return False
    match words:
        case ["distrl" | ".venv/bin/distrl", *rest]:
            return can_be_given(rest) and _settings(rest) <= SETTINGS
        case ["python", "-m", "phonesim", *rest]:  # which is `distrl phone`
            return can_be_given(["phone", *rest])
        case ["make", *rest]:
            return {word for word in rest if "=" not in word} <= make_targets()
        case ["pip", "install", *rest]:
            return all(_is_ours(word) for word in rest if word not in PIP_WORDS)
        case _:
            return False


SETTINGS = set(setting_names(TrainingConfig))
PIP_WORDS = {"-c", "constraints.txt", "-e", "."}


def _settings(words: list[str]) -> set[str]:
    """The names after `--set`; options of others' parts are theirs, … is anything."""
    named = [after for word, after in pairwise(words) if word == "--set"]
    names = (each.partition("=")[0] for each in named if each != "…")
    return {name for name in names if not re.match(r"\w+\.options\.", name)}


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def _is_ours(word: str) -> bool:
    found = re.fullmatch(r"(?:distrl|\.)\[([a-z,-]+)\]", word)
    if found is None:
        return False
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return set(found[1].split(",")) <= set(project["optional-dependencies"])


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
