"""The served phone's shell: a table of known commands, and the operators between them.

It starts no process and opens no file of the host: commands are Python functions on a `Handset`,
redirections go to the handset's own storage. An unknown command gets the answer of a real shell,
exit code 127, and a line in our log.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from itertools import dropwhile

from distrl.errors import DistrlError
from phonesim.adb_daemon.commands import COMMANDS
from phonesim.adb_daemon.file_system import StorageRefusal
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.result import NOTHING, Refusal, Result, failure
from phonesim.adb_daemon.shell_line import (
    Part,
    Pipeline,
    SyntaxRefusal,
    Variable,
    Word,
    read_line,
)

logger = logging.getLogger(__name__)

NOT_FOUND = 127
FOLDER = "/system/bin/"
CODE = re.compile(r"[0-9]{1,9}")
MAX_OUTPUT = 64 * 2**20  # bytes that may be piped or redirected


class Shell:
    """A session: lines run one after the other, `$?` and variables persist between them."""

    def __init__(self, handset: Handset) -> None:
        self._handset = handset
        self._variables: dict[str, str] = {"PATH": "/system/bin", "HOME": "/", "USER": "shell"}
        self.code = 0
        self.left = False  # by `exit`

    def run(self, line: str) -> Iterator[Result]:
        """Run a line; yield the result of each pipeline as it runs. After `exit` nothing runs."""
        try:
            pipelines = read_line(line)
        except SyntaxRefusal as refusal:
            logger.warning("%s: unreadable line %.200r", self._handset.serial, line)
            self.code = 1
            yield failure(f"/system/bin/sh: {refusal}")
            return
        for pipeline in pipelines:
            if self.left:
                return
            if pipeline.joint == ";" or (pipeline.joint == "&&") == (self.code == 0):
                seconds = self._seconds_to_start(pipeline)
                if seconds:
                    yield Result(seconds=seconds)
                result = self._run(pipeline)
                self.code = result.code
                yield result

    def _seconds_to_start(self, pipeline: Pipeline) -> float:
        """Return the seconds until the programs of a pipeline have started."""
        names = (_program([self._text(word) for word in part.words]) for part in pipeline.parts)
        with self._handset.lock:
            return sum(self._handset.seconds_to_start(name) for name in names)

    def _run(self, pipeline: Pipeline) -> Result:
        given, errors, seconds = b"", b"", 0.0
        result = NOTHING
        for part in pipeline.parts:
            with self._handset.lock:
                result = self._run_part(part, given)
            given, errors = result.out[:MAX_OUTPUT], errors + result.error
            seconds += result.seconds
        return Result(given, errors, result.code, seconds)

    def _run_part(self, part: Part, given: bytes) -> Result:
        """Run one command with its redirections."""
        words = [self._text(word) for word in part.words]
        try:
            for kind, target in part.redirections:
                if kind == "<":
                    given = self._read(self._text(target))
            return self._redirected(part, self._answer(words, given))
        except StorageRefusal as refusal:
            return failure(f"/system/bin/sh: can't open: {refusal}")

    def _answer(self, words: list[str], given: bytes) -> Result:
        """Run a command; turn the errors that it or the phone raises into its result."""
        try:
            return self._call(words, given)
        except Refusal as refusal:
            return failure(refusal.said, code=refusal.code)
        except StorageRefusal as refusal:
            return failure(f"{words[0][:80]}: {refusal}")
        except DistrlError as error:
            return failure(f"Error: {error}")

    def _call(self, words: list[str], given: bytes) -> Result:
        words = _without_prefixes(self._assign(words))
        if not words:
            return NOTHING
        name, *arguments = words
        bare = name.removeprefix(FOLDER)
        if bare in COMMANDS:
            return COMMANDS[bare](self._handset, arguments, given)
        if bare == "exit":
            self.left = True
            code = arguments[0] if arguments else ""
            return Result(code=int(code) & 0xFF if CODE.fullmatch(code) else self.code)
        if bare == "export":
            self._assign(arguments)
            return NOTHING
        if bare in ("cd", "set", ":"):
            return NOTHING
        logger.warning("%s: unknown command %.200r", self._handset.serial, name)
        return failure(f"/system/bin/sh: {name}: not found", code=NOT_FOUND)

    def _assign(self, words: list[str]) -> list[str]:
        """Apply leading NAME=value words, and return the words after them."""
        while words and _is_assignment(words[0]):
            name, _, value = words[0].partition("=")
            self._variables[name] = value
            words = words[1:]
        return words

    def _text(self, word: Word) -> str:
        return "".join(self._value(p) if isinstance(p, Variable) else p for p in word)

    def _value(self, variable: Variable) -> str:
        return str(self.code) if variable.name == "?" else self._variables.get(variable.name, "")

    def _redirected(self, part: Part, result: Result) -> Result:
        out, error = result.out, result.error
        if part.errors_too:
            out, error = out + error, b""
        for kind, target in part.redirections:
            if kind in (">", "1>", ">>"):
                self._write(self._text(target), out, kind == ">>")
                out = b""
            elif kind in ("2>", "2>>"):
                self._write(self._text(target), error, kind == "2>>")
                error = b""
        return Result(out, error, result.code, result.seconds)

    def _read(self, path: str) -> bytes:
        return b"" if path == "/dev/null" else self._handset.files.read(path)

    def _write(self, path: str, data: bytes, behind: bool) -> None:
        if path == "/dev/null":
            return
        files = self._handset.files
        before = files.read(path) if behind and files.find(path) else b""
        files.write(path, before + data, self._handset.seconds)


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier() and name.isascii()


def _without_prefixes(words: list[str]) -> list[str]:
    return list(dropwhile(lambda word: word in ("exec", "command"), words))


def _program(words: list[str]) -> str:
    """Return the name of the program that a command line runs; empty if there is none."""
    rest = _without_prefixes(list(dropwhile(_is_assignment, words)))
    return rest[0].removeprefix(FOLDER) if rest else ""
