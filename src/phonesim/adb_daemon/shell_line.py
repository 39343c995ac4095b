"""A hand-written parser of shell lines. Nothing is ever passed to a shell of the host.

It supports words with quotes, `$NAME` and `$?`, the operators `;` `&&` `||` `|`, and redirections
into files of the phone. Syntax that needs processes (`$(…)`, backquotes, `&`, parentheses,
here-documents) raises `SyntaxRefusal`, which names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

MAX_LINE = 256 * 1024  # characters
MAX_COMMANDS = 1000
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|\?|\$|!|#|@|\*|[0-9]")
OPERATORS = ("&&", "||", "2>&1", ">&2", "1>&2", "2>>", "2>", "1>", ">>", ">", "|", ";", "<")
REDIRECTIONS = {"2>>", "2>", "1>", ">>", ">", "<"}
Joint = Literal[";", "&&", "||"]


class SyntaxRefusal(Exception):
    """A line that this shell cannot read."""


class Unfinished(SyntaxRefusal):
    """A line with an open quote: in a session, the next line continues it."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in a word, expanded when its command runs."""

    name: str


Word = tuple[str | Variable, ...]


@dataclass(slots=True)
class Part:
    """One command of a pipeline, with its redirections."""

    words: list[Word] = field(default_factory=list)
    redirections: list[tuple[str, Word]] = field(default_factory=list)
    errors_too: bool = False  # 2>&1


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by pipes; `joint` is the operator between it and the one before."""

    joint: Joint
    parts: tuple[Part, ...]


def read_line(line: str) -> list[Pipeline]:
    """Return the pipelines of a line (or of several lines), in order."""
    if len(line) > MAX_LINE:
        raise SyntaxRefusal(f"line of {len(line)} characters is too long")
    pipelines: list[Pipeline] = []
    joint: Joint = ";"
    parts = [Part()]
    waiting = ""  # a redirection without its file

    def finish(last: str) -> None:
        if waiting:
            raise SyntaxRefusal(f"syntax error: '{waiting}' without a file")
        empty = [part for part in parts if not part.words and not part.redirections]
        if empty and (len(parts) > 1 or last in ("&&", "||", "|") or joint != ";"):
            raise SyntaxRefusal(f"syntax error: unexpected '{last}'")
        if not empty:
            pipelines.append(Pipeline(joint, tuple(parts)))

    for token in _tokens(line):
        if len(pipelines) + len(parts) > MAX_COMMANDS:
            raise SyntaxRefusal(f"more than {MAX_COMMANDS} commands in one line")
        if isinstance(token, tuple) and waiting:
            parts[-1].redirections.append((waiting, token))
            waiting = ""
        elif isinstance(token, tuple):
            parts[-1].words.append(token)
        elif waiting:
            raise SyntaxRefusal(f"syntax error: unexpected '{token}'")
        elif token in REDIRECTIONS:
            waiting = token
        elif token in ("2>&1", ">&2", "1>&2"):
            parts[-1].errors_too = token == "2>&1"
        elif token == "|":
            parts.append(Part())
        else:
            finish(token)
            joint, parts = _joint(token), [Part()]
    finish("newline")
    return pipelines


def _joint(token: str) -> Joint:
    return "&&" if token == "&&" else "||" if token == "||" else ";"


def _tokens(line: str) -> Iterator[Word | str]:
    """Words as tuples, operators as strings."""
    place = 0
    while place < len(line):
        letter = line[place]
        if letter in "\n\r":
            yield ";"
            place += 1
        elif letter in " \t":
            place += 1
        elif letter == "#":
            end = line.find("\n", place)
            place = len(line) if end < 0 else end
        elif operator := next((o for o in OPERATORS if line.startswith(o, place)), ""):
            if line.startswith("<<", place):
                raise SyntaxRefusal("syntax error: no here-documents")
            yield operator
            place += len(operator)
        else:
            word, place = _word(line, place)
            yield word


def _word(line: str, place: int) -> tuple[Word, int]:
    """Return the word that begins at `place`, and where it ends."""
    pieces: list[str | Variable] = []
    text: list[str] = []
    quoted = False  # within "…"
    while place < len(line) and (quoted or line[place] not in " \t\r\n;|<>"):
        letter = line[place]
        place += 1
        if letter == '"':
            quoted = not quoted
        elif letter == "'" and not quoted:
            end = line.find("'", place)
            if end < 0:
                raise Unfinished("syntax error: no closing quote")
            text.append(line[place:end])
            place = end + 1
        elif letter == "\\":
            following = line[place : place + 1]
            keeps = quoted and following not in ('"', "\\", "$", "`")
            text.append("\\" + following if keeps else following)
            place += 1
        elif letter == "$":
            name, place = _variable(line, place)
            if name:
                pieces += ["".join(text), Variable(name)]
                text = []
            else:
                text.append("$")
        elif letter == "`" or (letter in "&()" and not quoted):
            if letter == "&" and line.startswith("&", place):
                place -= 1
                break
            raise SyntaxRefusal(f"syntax error: unexpected '{letter}'")
        else:
            text.append(letter)
    if quoted:
        raise Unfinished("syntax error: no closing quote")
    return (*pieces, "".join(text)), place


def _variable(line: str, place: int) -> tuple[str, int]:
    """Return the name after a `$`, and where it ends; an empty name for a literal `$`."""
    if line.startswith("(", place):
        raise SyntaxRefusal("syntax error: unexpected '$('")
    if line.startswith("{", place):
        found = NAME.match(line, place + 1)
        if not found or not line.startswith("}", found.end()):
            raise SyntaxRefusal("syntax error: bad substitution")
        return found[0], found.end() + 1
    found = NAME.match(line, place)
    return (found[0], found.end()) if found else ("", place)
