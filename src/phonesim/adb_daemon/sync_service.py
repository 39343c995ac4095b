"""adb's file transfer (`adb push`, `adb pull`, and stat and list), on the phone's own storage.

A request is four letters, a length and as many bytes of path. A file that is sent is collected up
to a limit and then stored at once, so that an aborted transfer leaves the old file as it was.
"""

from __future__ import annotations

import stat
import struct
from collections.abc import Generator, Iterator

from phonesim.adb_daemon.file_system import MAX_BYTES, MAX_PATH, StorageRefusal
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.streams import Inbox, Service

CHUNK = 64 * 1024  # the largest piece of a file that either side may send
PAIR = struct.Struct("<4sI")  # a request, or most answers
STAT = struct.Struct("<4s3I")
ENTRY = struct.Struct("<4s4I")


def sync(handset: Handset, inbox: Inbox) -> Service:
    """Answer requests until the computer quits, or asks for something that does not exist."""
    while True:
        kind, size = PAIR.unpack((yield from inbox.exactly(PAIR.size)))
        if kind == b"QUIT":
            return
        if size > MAX_PATH + 16:  # SEND has a mode after its path
            yield _fail("path too long")
            return
        path = (yield from inbox.exactly(size)).decode("utf-8", "replace")
        match kind:
            case b"STAT":
                yield _stat(handset, path)
            case b"LIST":
                yield _list(handset, path)
            case b"RECV":
                yield from _receive(handset, path)
            case b"SEND":
                yield from _send(handset, inbox, path)
            case _:
                yield _fail(f"unknown command {kind!r}")
                return


def _fail(reason: str) -> bytes:
    said = reason.encode("utf-8", "replace")
    return PAIR.pack(b"FAIL", len(said)) + said


def _stat(handset: Handset, path: str) -> bytes:
    with handset.lock:
        node = handset.files.find(path)
    if node is None:
        return STAT.pack(b"STAT", 0, 0, 0)
    return STAT.pack(b"STAT", node.mode, len(node.data), node.changed)


def _list(handset: Handset, path: str) -> bytes:
    entries = []
    with handset.lock:
        try:
            names = handset.files.names(path)
        except StorageRefusal:
            names = []  # adb has no other answer for that
        for name in names:
            node = handset.files.find(f"{path}/{name}")
            if node is not None:
                said = name.encode("utf-8", "replace")
                fields = (node.mode, len(node.data), node.changed, len(said))
                entries.append(ENTRY.pack(b"DENT", *fields) + said)
    return b"".join(entries) + ENTRY.pack(b"DONE", 0, 0, 0, 0)


def _receive(handset: Handset, path: str) -> Iterator[bytes]:
    """Send a file to the computer: `adb pull`."""
    try:
        with handset.lock:
            data = handset.files.read(path)
    except StorageRefusal as refusal:
        yield _fail(f"open failed: {refusal}")
        return
    for start in range(0, len(data), CHUNK):
        piece = data[start : start + CHUNK]
        yield PAIR.pack(b"DATA", len(piece)) + piece
    yield PAIR.pack(b"DONE", 0)


def _send(handset: Handset, inbox: Inbox, target: str) -> Generator[bytes | float, None, None]:
    """Receive a file: `adb push`. A file that is too large is read to its end, then refused."""
    path, _, words = target.rpartition(",")
    mode = int(words) if words.isascii() and words.isdigit() and len(words) < 8 else -1
    collected, refused = bytearray(), "" if path and mode >= 0 else f"bad target {target!r}"
    while True:
        kind, number = PAIR.unpack((yield from inbox.exactly(PAIR.size)))
        if kind == b"DONE":
            break
        if kind != b"DATA" or number > CHUNK:
            yield _fail("bad data in a file that was sent")
            return
        piece = yield from inbox.exactly(number)
        if len(collected) + number > MAX_BYTES:
            refused = "write failed: No space left on device"
            collected.clear()
        if not refused:
            collected += piece
    if not refused:
        refused = _store(handset, path, mode, bytes(collected), changed=number)
    yield _fail(refused) if refused else PAIR.pack(b"OKAY", 0)


def _store(handset: Handset, path: str, mode: int, data: bytes, changed: int) -> str:
    """Store a file; return why it could not be stored, or an empty string."""
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "couldn't create: only plain files are kept here"
    try:
        with handset.lock:
            handset.files.write(path, data, changed, mode)
    except StorageRefusal as refusal:
        return f"couldn't create file: {refusal}"
    return ""
