"""Files of the phone on its own storage: ls, cat, rm, mkdir, rmdir, touch, mv, cp, test."""

from __future__ import annotations

import posixpath
import stat
import time
from collections.abc import Sequence

from phonesim.adb_daemon.file_system import StorageRefusal
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.result import NOTHING, Command, Refusal, Result, lines

MAX_OUTPUT = 300 * 2**20  # bytes; one file of the largest size


def _options(words: Sequence[str]) -> tuple[set[str], list[str]]:
    letters = {letter for word in words if word.startswith("-") for letter in word[1:]}
    return letters, [word for word in words if not word.startswith("-")]


def ls(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    letters, paths = _options(words)
    rows = []
    for path in paths or ["/"]:
        node = handset.files.find(path)
        if node is None:
            raise Refusal(f"ls: {path}: No such file or directory")
        inside = node.is_folder and "d" not in letters
        for name in handset.files.names(path) if inside else [path]:
            whole = posixpath.join(path, name) if inside else path
            rows.append(_long(handset, whole, name) if "l" in letters else name)
    return lines(*rows)


def _long(handset: Handset, path: str, name: str) -> str:
    node = handset.files.find(path)
    if node is None:
        return name
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(node.changed))
    return f"{stat.filemode(node.mode)} 1 shell shell {len(node.data):>8} {when} {name}"


def cat(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    pieces, size = [], 0
    for path in words:
        try:
            pieces.append(handset.files.read(path))
        except StorageRefusal as refusal:
            raise Refusal(f"cat: {path}: {refusal}") from refusal
        size += len(pieces[-1])
        if size > MAX_OUTPUT:
            raise Refusal("cat: too much at once")
    return Result(b"".join(pieces) if words else given)


def rm(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    letters, paths = _options(words)
    for path in paths:
        if handset.files.find(path) is None and "f" in letters:
            continue
        try:
            handset.files.remove(path, with_content=bool(letters & {"r", "R"}))
        except StorageRefusal as refusal:
            raise Refusal(f"rm: {path}: {refusal}") from refusal
    return NOTHING


def mkdir(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    letters, paths = _options(words)
    for path in paths:
        if "p" not in letters and handset.files.find(path):
            raise Refusal(f"mkdir: '{path}': File exists")
        try:
            handset.files.make_folder(path, handset.seconds)
        except StorageRefusal as refusal:
            raise Refusal(f"mkdir: '{path}': {refusal}") from refusal
    return NOTHING


def rmdir(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    for path in _options(words)[1]:
        try:
            if handset.files.names(path):
                raise Refusal(f"rmdir: '{path}': Directory not empty")
            handset.files.remove(path, with_content=True)
        except StorageRefusal as refusal:
            raise Refusal(f"rmdir: '{path}': {refusal}") from refusal
    return NOTHING


def touch(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    for path in _options(words)[1]:
        handset.files.touch(path, handset.seconds)
    return NOTHING


def cp(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    source, target = _pair("cp", words)
    data = handset.files.read(source)
    handset.files.write(_into(handset, source, target), data, handset.seconds)
    return NOTHING


def mv(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    source, target = _pair("mv", words)
    data, whole = handset.files.read(source), _into(handset, source, target)
    handset.files.remove(source)
    handset.files.write(whole, data, handset.seconds)
    return NOTHING


def _pair(name: str, words: Sequence[str]) -> tuple[str, str]:
    paths = _options(words)[1]
    if len(paths) != 2:
        raise Refusal(f"{name}: needs a source and a target")
    return paths[0], paths[1]


def _into(handset: Handset, source: str, target: str) -> str:
    node = handset.files.find(target)
    return posixpath.join(target, posixpath.basename(source)) if node and node.is_folder else target


def test(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    """`test -e PATH` and `[ -d PATH ]`; also -f, -n, -z and =."""
    match [word for word in words if word != "]"]:
        case ["-e" | "-d" | "-f" as kind, path]:
            node = handset.files.find(path)
            kinds = {"-e": True, "-d": bool(node and node.is_folder), "-f": bool(node)}
            return Result(code=0 if node and kinds[kind] else 1)
        case ["-n", text] | [text]:
            return Result(code=0 if text else 1)
        case ["-z", text]:
            return Result(code=1 if text else 0)
        case [left, "=" | "==", right]:
            return Result(code=0 if left == right else 1)
    raise Refusal("test: unknown condition", 2)


COMMANDS: dict[str, Command] = {
    "ls": ls,
    "cat": cat,
    "rm": rm,
    "mkdir": mkdir,
    "rmdir": rmdir,
    "touch": touch,
    "cp": cp,
    "mv": mv,
    "test": test,
    "[": test,
}
